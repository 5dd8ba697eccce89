/** What elements do beside being drawn: they read, send, wait and listen. */
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { isReachable, returned } from "../../network.js";
import { dismiss, sayFailure } from "../../notices.js";
import { abandonReads, maySee, readList } from "../../records.js";
import { isUnsaved } from "../../router.js";

/** @param {number} until In milliseconds. @returns {number} how many seconds are left until then */
const left = (until) => Math.max(0, Math.ceil((until - Date.now()) / 1000));

/** Words with seconds in them that become fewer, for the eye; what reads aloud hears the first and the last. @param {number} until In milliseconds; 0 for a moment that is over. @returns {number} how many seconds are left, now and as they pass */
export function useLeft(until) {
  const [seconds, setSeconds] = useState(left(until));
  useEffect(() => {
    setSeconds(left(until));
    if (left(until) === 0) return;
    const timer = setInterval(() => {
      setSeconds(left(until));
      if (left(until) === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [until]);
  return seconds;
}

/**
 * Read data now, and again when the service is back; the old data stay until then. Leaving the view aborts the read.
 *
 * @template T
 * @param {(signal: AbortSignal, from?: number) => Promise<T>} read
 * @param {readonly unknown[]} [inputs] Read again when one of these changes.
 * @returns {{data: T | undefined, failure: Failure | undefined, again: (from?: number) => Promise<void>}}
 */
export function useRead(read, inputs = []) {
  const [data, setData] = useState(/** @type {T | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const stop = useRef(new AbortController());
  const again = async (/** @type {number | undefined} */ from) => {
    stop.current.abort();
    const { signal } = (stop.current = new AbortController());
    try {
      const found = await read(signal, from);
      if (signal.aborted) return;
      setData(() => found);
      setFailure(undefined);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
  };
  useEffect(() => {
    void again(0);
    return () => stop.current.abort();
  }, [returned.value, ...inputs]);
  return { data, failure, again };
}

/**
 * Load something of the console, and again when the service is back.
 *
 * @template T
 * @param {() => Promise<T>} load
 * @returns {{found: {is: T} | undefined, problem: "" | "waits" | "missing"}} `waits` where the service cannot be reached
 */
export function useLoaded(load) {
  const [found, setFound] = useState(/** @type {{is: T} | undefined} */ (undefined));
  const [problem, setProblem] = useState(/** @type {"" | "waits" | "missing"} */ (""));
  useEffect(() => {
    if (found) return;
    let stays = true;
    const failed = async () => {
      const isThere = await isReachable();
      if (!stays) return;
      // Some browsers remember that a module could not be loaded, until the page is loaded again.
      if (isThere && problem === "waits" && !isUnsaved()) location.reload();
      else setProblem(isThere ? "missing" : "waits");
    };
    load().then((is) => stays && setFound({ is }), failed);
    return () => void (stays = false);
  }, [returned.value]);
  return { found, problem: found ? "" : problem };
}

/**
 * What a button does, one at a time.
 *
 * @param {object} [how]
 * @param {() => unknown} [how.after] Follows each attempt, whatever came of it.
 * @param {(failure: Failure, again: () => void) => unknown} [how.failed] Else a notice offers to try again where that may help.
 */
export function useRun({ after, failed = sayFailure } = {}) {
  /** The name of the action that runs, or empty. */
  const [busy, setBusy] = useState("");
  /**
   * @template T
   * @param {() => Promise<T>} send
   * @param {(answer: T) => unknown} [then] With it, `send` is one request: if its response is lost, it is sent again with the same key.
   * @param {string} [what]
   */
  const run = async (send, then, what = "it") => {
    setBusy(what);
    try {
      const answer = await send();
      await then?.(answer);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      const repeat = then && error.repeat;
      await failed(error, () => void run(repeat ?? send, then, what));
    } finally {
      setBusy("");
      await after?.();
    }
  };
  return { busy, run };
}

/**
 * Send a form: not twice at a time, and under the same key if the response to the same values was lost, so that nothing is created twice.
 *
 * @param {(failure: Failure) => unknown} failed
 */
export function useSend(failed) {
  const { busy, run } = useRun({ failed });
  const lost = useRef({ body: "", repeat: /** @type {(() => Promise<any>) | undefined} */ (undefined) });
  /** @template T @param {object} values @param {() => Promise<T>} request @param {(answer: T) => unknown} then */
  const send = async (values, request, then) => {
    if (busy) return;
    const body = JSON.stringify(values);
    const sent = (lost.current.body === body && lost.current.repeat) || request;
    lost.current = { body, repeat: undefined };
    const keep = (/** @type {Failure} */ failure) => {
      lost.current.repeat = failure.repeat;
      throw failure;
    };
    await run(() => sent().catch(keep), then);
  };
  return { busy, send };
}

/** The notice that offers to try again what a form sent: it goes with the form, and with the next attempt. */
export function useOffer() {
  const id = useRef(/** @type {number | undefined} */ (undefined));
  const withdraw = () => dismiss(id.current);
  useEffect(() => withdraw, []);
  /** @param {Failure} failure @param {(() => void) | null} again None where the form is gone. */
  const make = (failure, again) => void (id.current = sayFailure(failure, again ?? undefined));
  return { make, withdraw };
}

/**
 * Read the lists of records that a view shows or names, as far as the user may see them, and again when the service is back.
 *
 * @param {KindName[]} kinds
 * @returns {() => void} reads them again, whatever is being read already
 */
export function useLists(...kinds) {
  const seen = kinds.filter(maySee);
  const read = () => seen.forEach((kind) => void readList(kind));
  useEffect(read, [returned.value, seen.join()]);
  return () => {
    abandonReads(...kinds);
    read();
  };
}

/** @template T @param {T} value @param {number} time In milliseconds. @returns {T} the value, once it rests */
export function useRested(value, time) {
  const [rested, setRested] = useState(value);
  useEffect(() => {
    const timer = setTimeout(() => setRested(() => value), time);
    return () => clearTimeout(timer);
  }, [value]);
  return rested;
}

/** Look now and then, and whenever somebody returns to the page. @param {() => unknown} look @param {number} every In milliseconds. @param {readonly unknown[]} inputs What `look` depends on. */
export function useLook(look, every, inputs) {
  const seen = () => document.hidden || look();
  useEffect(() => {
    const timer = setInterval(seen, every);
    return () => clearInterval(timer);
  }, inputs);
  useEvents(document, "visibilitychange", seen, inputs);
}

/** Events that scroll the page, which does not wait for who listens. */
const PASSIVE = ["scroll", "touchmove", "wheel"];

/** Listen to events, named with blanks between them, from the moment this is shown. @param {EventTarget} target @param {string} names @param {(event: any) => unknown} act @param {readonly unknown[]} [inputs] What `act` depends on. */
export function useEvents(target, names, act, inputs = []) {
  useLayoutEffect(() => {
    const stop = new AbortController();
    for (const name of names.split(" ")) target.addEventListener(name, act, { signal: stop.signal, passive: PASSIVE.includes(name) });
    return () => stop.abort();
  }, inputs);
}

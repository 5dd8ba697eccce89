/** Reads data for a single view, besides the lists that all views share. */
import { useEffect, useRef, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";

/**
 * Read data now, and again when the service is back; the old data stay until then. Leaving the view aborts the read.
 *
 * @template T
 * @param {(signal: AbortSignal) => Promise<T>} read
 * @param {readonly unknown[]} [inputs] Read again when one of these changes.
 * @returns {{data: T | undefined, failure: Failure | undefined, again: () => Promise<void>}}
 */
export function useRead(read, inputs = []) {
  const [data, setData] = useState(/** @type {T | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const stop = useRef(new AbortController());
  const again = async () => {
    stop.current.abort();
    const { signal } = (stop.current = new AbortController());
    try {
      const found = await read(signal);
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
    void again();
    return () => stop.current.abort();
  }, [returned.value, ...inputs]);
  return { data, failure, again };
}

/** A request of a form: whether it is under way, and why it failed, with a button to try again where that may help. */
import { h, useState } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { useFailure } from "../primitives/countdown.js";

/** @typedef {{failure: Failure, again: () => void}} Failed */

/** @returns {{busy: boolean, failed: Failed | undefined, attempt: <T>(send: () => Promise<import("../../client.js").Answer<T>>, then: (data: T) => void) => Promise<void>}} */
export function useAttempt() {
  const [busy, setBusy] = useState(false);
  const [failed, setFailed] = useState(/** @type {Failed | undefined} */ (undefined));
  /** @param {() => Promise<import("../../client.js").Answer<any>>} send @param {(data: any) => void} then */
  const attempt = async (send, then) => {
    setBusy(true);
    setFailed(undefined);
    try {
      then((await send()).data);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // What may have been done is sent under its own key.
      setFailed({ failure: error, again: () => void attempt(error.repeat ?? send, then) });
    } finally {
      setBusy(false);
    }
  };
  return { busy, failed, attempt };
}

/** @param {{failed: Failed, busy: boolean}} props */
export function Failing({ failed: { failure, again }, busy }) {
  const { words, left } = useFailure(failure);
  return h("div", { class: "complaint spread", role: "alert" },
    h("p", { dir: "auto" }, words),
    failure.passes && h(Button, { icon: "RefreshCw", busy, idle: left > 0, onClick: again }, t("tryAgain")),
  );
}

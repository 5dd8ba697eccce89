/** That sites do not get an active logo or theme, or not as its imports are by now: why, and what to do about it. */
import { h, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { readStates, statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { Band } from "../primitives/band.js";
import { Button } from "../primitives/basics.js";
import { aboutState } from "./about_state.js";
import { CHECK, PASSING } from "./left_out.js";

/** @typedef {{kind: "logo" | "theme", id: number}} Props */

/** @param {Props} props */
export function RecordState({ kind, id }) {
  const known = statesOf(kind, id);
  return [
    known.left_out && h(LeftOut, { key: "left_out", kind, id }),
    known.changed && h(Band, { key: "changed", icon: "GitCompareArrows", title: aboutState("changed", known), actions: h(Look, {}) }, h("p", null, t("changed.do"))),
  ];
}

/** @param {Props} props */
function LeftOut({ kind, id }) {
  const [busy, setBusy] = useState(false);
  const known = statesOf(kind, id);
  const { code = "not_pinned" } = known.left_out ?? {};
  const retry = async () => {
    setBusy(true);
    try {
      await CHECK[kind](id);
      await readStates();
      returned.value += 1;
      if (statesOf(kind, id).left_out) say(t("left_out.still"), { tone: "failed" });
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      sayFailure(error, () => void retry());
    } finally {
      setBusy(false);
    }
  };
  const action = PASSING.includes(code) ? h(Button, { icon: "RefreshCw", scope: KINDS[kind].write, busy, onClick: () => void retry() }, t("tryAgain")) : code === "document" && h(Look, {});
  return h(Band, { title: aboutState("left_out", known), actions: action }, h("p", null, t(`left_out.do.${code}`)));
}

/** Leads to the imports, which are below the CSS. */
function Look() {
  const look = () => {
    const imports = document.querySelector(".imports");
    if (imports instanceof HTMLElement) imports.focus();
  };
  return h(Button, { icon: "ArrowDown", onClick: look }, t("imports.look"));
}

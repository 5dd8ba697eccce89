/** That sites do not get an active logo or theme, or not as its imports are by now: why, and what to do about it. */
import { h, useState } from "../../vendor/preact.js";
import { Failure, call, returned } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { readStates, statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { Band } from "../primitives/band.js";
import { Button } from "../primitives/basics.js";
import { aboutState } from "./about_state.js";

/** @typedef {{kind: "logo" | "theme", id: number}} Props */

/** What another attempt may help against. */
const PASSING = ["not_fetched", "not_pinned"];
/** Another attempt. @type {Record<"logo" | "theme", (id: number) => Promise<unknown>>} */
const CHECK = {
  logo: (id) => call("post", "/api/logos/{logo_id}/pins/check", { path: { logo_id: id } }),
  theme: (id) => call("post", "/api/themes/{theme_id}/pins/check", { path: { theme_id: id } }),
};

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

/** Why sites do not get a record, or what a reviewer should look at. */
import { t } from "../../texts.js";

/** @param {import("../../reader_states.js").State} state @param {import("../../reader_states.js").Known} known @returns {string} a sentence */
export function aboutState(state, known) {
  if (state === "blocked") return known.blocked?.reason ?? "";
  const { code = "not_pinned" } = known.left_out ?? {};
  if (state === "left_out" && known.left_out) return t(code === "not_pinned" && !known.left_out.host ? "pin.whole" : `about.left_out.${code}`, { host: known.left_out.host ?? "" });
  if (state === "changed") return t("about.changed", { url: known.changed?.url ?? "" });
  return t("about.risky");
}

/** Why sites do not get a record, or what a reviewer should look at. */
import { t } from "../../texts.js";

/** @param {import("../../reader_states.js").State} state @param {import("../../reader_states.js").Known} known @returns {string} a sentence */
export function aboutState(state, known) {
  if (state === "blocked") return known.blocked?.reason ?? "";
  if (state === "left_out" && known.left_out) return t(`about.left_out.${known.left_out.code}`);
  return t("about.risky");
}

/** Why sites do not get a record, or what a reviewer should look at. */
import { t } from "../../texts.js";

/** @param {import("../../reader_states.js").State} state @param {import("../../reader_states.js").Known} known @returns {string} a sentence */
export function aboutState(state, known) {
  if (state === "blocked") return known.blocked?.reason ?? "";
  if (state === "left_out" && known.left_out) return t(`about.left_out.${codeOf(known.left_out)}`, { host: known.left_out.host ?? "" });
  if (state === "changed") return t("about.changed", { url: known.changed?.url ?? "" });
  return t("about.risky");
}

/** @param {NonNullable<import("../../reader_states.js").Known["left_out"]>} leftOut */
function codeOf({ code, host }) {
  return code && code !== "not_pinned" ? code : host ? "not_pinned" : "not_replaced";
}

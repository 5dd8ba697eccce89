/** Problems of values from the service, in the user's language. */
import { t } from "./texts.js";

/** @typedef {import("./client.js").Problem} Problem */

/** @type {Record<string, import("./texts.js").TextKey>} By the type of a problem, as the service names it. */
const WORDS = {
  greater_than_equal: "line.range",
  int_from_float: "problem.number",
  int_parsing: "problem.number",
  int_type: "problem.number",
  less_than_equal: "line.range",
  missing: "problem.missing",
  string_pattern_mismatch: "problem.pattern",
  string_too_short: "problem.missing",
  url_parsing: "problem.url",
};

/** @param {Problem} problem @returns {string} */
export function wordsOf({ type, msg }) {
  const [, bound, n] = /at (most|least) (\d+) characters?$/.exec(msg) ?? [];
  if (Number(n) > 1) return t(bound === "most" ? "problem.most" : "problem.short", { n: Number(n) });
  if (msg.endsWith("most common ones")) return t("problem.common");
  const key = WORDS[type];
  return key ? t(key) : msg;
}

/** Why a picture is not kept, in the user's language: the service says it in English (contract P1, L8). */
import { describe } from "../../notices.js";
import { wordsOf } from "../../problems.js";
import { exactTime, t } from "../../texts.js";
import { failureWords } from "../publication/fetch_failure.js";

/** @typedef {import("../../texts.js").TextKey} TextKey */

/** The reasons of the service. @type {[RegExp, TextKey][]} */
const REASONS = [
  [/^Convert SVG /, "keep.svg"],
  [/^This is not a /, "keep.unknown"],
  [/damaged or cut off$/, "keep.damaged"],
  [/ pixels; it should have | too many pixels/, "keep.pixels"],
  [/ scans; /, "keep.scans"],
  [/ too much memory/, "keep.memory"],
  [/^This picture was removed$/, "keep.removed"],
  [/^Pictures need the extra |^Pictures are not fetched/, "keep.missing"],
  [/more than [\d,]+ bytes$|should have at most \d+ MiB$|^The picture takes more than /, "keep.tooLarge"],
  [/an import has |only imports by |the (?:host|port) of the URL |the URL /, "keep.address"],
];

/** @param {import("../../client.js").Failure} failure @returns {string} */
export function pictureFailure(failure) {
  if (failure.kind === "invalid" && failure.problems.length > 0) return failure.problems.map(reasonOf).join(" ");
  if (failure.kind === "tooLarge") return t("keep.tooLarge");
  if (failure.detail === "Too many pictures in an hour") return t("keep.wait", { time: exactTime(Math.ceil(failure.until / 1000)) });
  if (failure.detail.startsWith("Your pictures ")) return t("keep.share");
  if (failure.detail.includes("picture_space")) return t("keep.space");
  return describe(failure);
}

/** @param {import("../../client.js").Problem} problem @returns {string} */
function reasonOf(problem) {
  const reason = problem.msg.replace(/^The picture cannot be fetched: /, "");
  const known = REASONS.find(([pattern]) => pattern.test(reason));
  if (known) return t(known[1]);
  return reason === problem.msg ? wordsOf(problem) : failureWords(reason);
}

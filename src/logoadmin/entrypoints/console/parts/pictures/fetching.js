/** Sends pictures to the gallery, and says in the user's language why something is not kept or fetched: the service says it in English (contract L5, L8, P1). */
import { call, Failure } from "../../client.js";
import { wordsOf } from "../../form.js";
import { describe } from "../../notices.js";
import { exactTime, t } from "../../texts.js";

/** The reasons of the service. @type {[RegExp, TextKey][]} */
const REASONS = [
  [/^Convert SVG /, "keep.svg"],
  [/^This is not a /, "keep.unknown"],
  [/damaged or cut off$/, "keep.damaged"],
  [/ pixels; it should have | too many pixels/, "keep.pixels"],
  [/ scans; /, "keep.scans"],
  [/ too much memory/, "keep.memory"],
  [/^This picture was removed$/, "keep.removed"],
  [/^Pictures need the extra |^Fetching pictures needs /, "keep.missing"],
  [/more than [\d,]+ bytes$|should have at most \d+ MiB$|^The picture takes more than /, "keep.tooLarge"],
  [/an import has |only imports by |the (?:host|port) of the URL |the URL /, "keep.address"],
];

/** @param {Failure} failure @returns {string} */
export function pictureFailure(failure) {
  if (failure.kind === "invalid" && failure.problems.length > 0) return failure.problems.map(reasonOf).join(" ");
  if (failure.kind === "tooLarge") return t("keep.tooLarge");
  if (failure.detail === "Too many pictures in an hour") return t("keep.wait", { time: exactTime(Math.ceil(failure.until / 1000)) });
  if (failure.detail.startsWith("Your pictures ")) return t("keep.share");
  if (failure.detail.includes("picture_space")) return t("keep.space");
  return describe(failure);
}

/** @param {Problem} problem @returns {string} */
function reasonOf(problem) {
  const reason = problem.msg.replace(/^The picture cannot be fetched: /, "");
  const known = REASONS.find(([pattern]) => pattern.test(reason));
  if (known) return t(known[1]);
  return reason === problem.msg ? wordsOf(problem) : failureWords(reason);
}

/** The largest file that the service accepts. */
const MOST = 8 * 1024 * 1024;

/** @typedef {{url: string, width: number, height: number, size: number}} Kept */

/** Sends pictures to the gallery, which keeps them (contract P1, P3). @param {File} file @param {(sent: number) => void} progress Gets the share that was sent, from 0 to 1. @param {AbortSignal} signal @returns {Promise<Kept>} @throws {Failure} */
export async function keepFile(file, progress, signal) {
  if (file.size > MOST) throw new Failure("tooLarge");
  const sent = (/** @type {number} */ loaded, /** @type {number} */ whole) => progress(loaded / whole);
  return (await call("post", "/api/pictures", { file, type: file.type || "application/octet-stream", progress: sent, signal })).data;
}

/** @param {string} url @param {AbortSignal} signal @returns {Promise<Kept>} @throws {Failure} */
export const keepCopy = async (url, signal) => (await call("post", "/api/pictures", { query: { from: url }, signal })).data;

/** The reasons of the service, and what takes the place of a number in them. @type {[RegExp, TextKey][]} */
const FETCH_REASONS = [
  [/^(?:responds with )?status (?<n>\d+)$/, "fetch.status"],
  [/^cannot be resolved$/, "fetch.unresolved"],
  [/^cannot be reached$/, "fetch.unreached"],
  [/^breaks off the connection$/, "fetch.broken"],
  [/^takes longer than |^is not resolved within |^the imported sheets did not arrive within /, "fetch.slow"],
  [/^has an address that is |outgoing_hosts$/, "fetch.forbidden"],
  [/certificate|TLS/, "fetch.tls"],
  [/^redirects |redirects lead to it$/, "fetch.redirect"],
  [/^does not speak HTTP|^sends a body that cannot be decompressed$/, "fetch.response"],
  [/^the media type of the response /, "fetch.type"],
  [/^sends more than |^more than [\d,]+ bytes$|^the CSS would have more than |^It has more than /, "fetch.large"],
  [/^the CSS imports more than (?<n>\d+) /, "fetch.many"],
  [/over more than (?<n>\d+) levels$/, "fetch.deep"],
  [/^sheets import each other in a circle$/, "fetch.circle"],
  [/^browsers ignore an @import there/, "fetch.ignored"],
  [/^@namespace applies /, "fetch.namespace"],
  [/^its CSS is invalid in line (?<n>.+)$/, "fetch.invalid"],
  [/^a list of declarations /, "fetch.declarations"],
  [/^what follows its URL /, "fetch.conditions"],
  [/^an import has |^only sheets with |^the (?:host|port) of the URL |^the URL /, "fetch.address"],
];

/** Why something cannot be fetched, in the user's language: the service says it in English (contract L5, L8). @param {string} failure As the service words it, perhaps with the host before it. @returns {string} itself where nothing is known of it */
export function failureWords(failure) {
  const [, host = "", reason = ""] = /^(?:([^\s:]+|\[[^\]]+\]): )?(.*)$/s.exec(failure) ?? [];
  for (const [pattern, key] of FETCH_REASONS) {
    const found = pattern.exec(reason);
    if (!found) continue;
    const words = t(key, { n: found.groups?.["n"] ?? "" });
    return host ? t("fetch.of", { host, words }) : words;
  }
  return failure;
}

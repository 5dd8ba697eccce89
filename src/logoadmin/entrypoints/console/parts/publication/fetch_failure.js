/** Why something cannot be fetched, in the user's language: the service says it in English (contract L5, L8). */
import { t } from "../../texts.js";

/** @typedef {import("../../texts.js").TextKey} TextKey */

/** The reasons of the service, and what takes the place of a number in them. @type {[RegExp, TextKey][]} */
const REASONS = [
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

/** @param {string} failure As the service words it, perhaps with the host before it. @returns {string} itself where nothing is known of it */
export function failureWords(failure) {
  const [, host = "", reason = ""] = /^(?:([^\s:]+|\[[^\]]+\]): )?(.*)$/s.exec(failure) ?? [];
  for (const [pattern, key] of REASONS) {
    const found = pattern.exec(reason);
    if (!found) continue;
    const words = t(key, { n: found.groups?.["n"] ?? "" });
    return host ? t("fetch.of", { host, words }) : words;
  }
  return failure;
}

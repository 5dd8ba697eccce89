/** Why an imported style sheet cannot be pinned, in the user's language: the service says it in English (contract L8). */
import { h } from "../../vendor/preact.js";
import { t } from "../../texts.js";

/** @typedef {import("../../texts.js").TextKey} TextKey */

/** The reasons of the service, and what takes the place of a number in them. @type {[RegExp, TextKey][]} */
const REASONS = [
  [/^(?:responds with )?status (?<n>\d+)$/, "pin.status"],
  [/^cannot be resolved$/, "pin.unresolved"],
  [/^cannot be reached$/, "pin.unreached"],
  [/^breaks off the connection$/, "pin.broken"],
  [/^takes longer than |^is not resolved within |^the sheets of a record did not arrive within |^not asked, after /, "pin.slow"],
  [/^has an address that is |outgoing_hosts$/, "pin.forbidden"],
  [/certificate|TLS/, "pin.tls"],
  [/^redirects |redirects lead to it$/, "pin.redirect"],
  [/^does not speak HTTP|^sends a body that cannot be decompressed$/, "pin.response"],
  [/^the media type of the response /, "pin.type"],
  [/^sends more than |^more than [\d,]+ bytes$|^the sheet is longer than |^the sheet has (?:more than|too many) /, "pin.large"],
  [/^a record can import at most (?<n>\d+) /, "pin.many"],
  [/over more than (?<n>\d+) levels$/, "pin.deep"],
  [/^a sheet imports itself$|^sheets import each other in a circle$/, "pin.circle"],
  [/^an import (?:of the sheet )?cannot be replaced$/i, "pin.replaced"],
  [/^The pinned style sheet \w+ is missing /, "pin.lost"],
  [/^an import has |^only imports by |^the (?:host|port) of the URL |^the URL /, "pin.address"],
];

/** @param {{failure: string, look: string}} props */
export const PinFailure = ({ failure, look }) => h("p", { class: look, dir: "auto" }, failureWords(failure));

/** @param {string} failure As the service words it, perhaps with the host before it. @returns {string} itself where nothing is known of it */
export function failureWords(failure) {
  const [, host = "", reason = ""] = /^(?:An imported style sheet cannot be pinned: )?(?:([^\s:]+|\[[^\]]+\]): )?(.*)$/s.exec(failure) ?? [];
  for (const [pattern, key] of REASONS) {
    const found = pattern.exec(reason);
    if (!found) continue;
    const words = t(key, { n: found.groups?.["n"] ?? "" });
    return host ? t("pin.of", { host, words }) : words;
  }
  return failure;
}

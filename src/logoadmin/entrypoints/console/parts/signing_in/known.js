/** Words for values of the service, of which a newer one may have more. */
import { t } from "../../texts.js";

/** @param {string} key @returns {string} the text; empty if there is none */
export function known(key) {
  const text = t(/** @type {import("../../texts.js").TextKey} */ (key));
  return text === key ? "" : text;
}

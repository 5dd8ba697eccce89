/** Words for values of the service, of which a newer one may have more. */
import { t } from "../../texts.js";

/** @param {string} key @returns {string} the text; empty if there is none */
function known(key) {
  const text = t(/** @type {import("../../texts.js").TextKey} */ (key));
  return text === key ? "" : text;
}

/** @param {string} event @returns {string} what happened; the event itself if it has no words */
export const eventWords = (event) => known(`event.${event}`) || event;

/** @param {string | null} factor @returns {string} what somebody signed in with; empty if it has no words */
export const factorWords = (factor) => known(`way.${factor}`);

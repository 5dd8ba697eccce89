/** The view for the current address. Only the shell imports this: the views themselves are loaded from here. */
import { computed } from "./vendor/preact.js";
import { isMember } from "./proposals.js";
import { listBehind, path } from "./router.js";
import { may } from "./session.js";
import { alternatives } from "./texts.js";
import { views } from "./views.js";

const patterns = views.map((view) => ({ view, segments: view.path.split("/") }));

/** @typedef {{view: import("./views.js").View | undefined, params: Record<string, string>, path: string}} Place */

/** @param {string} path @returns {Place} its view with the values of its `:fields`; no view for unknown paths */
function placeOf(path) {
  // Members have one list in place of the overview and of the queue.
  const parts = (isMember() && ["", "submissions"].includes(path) ? "works" : path).split("/");
  for (const { view, segments } of patterns) {
    if (segments.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    const fits = segments.every((segment, at) => {
      const part = parts[at] ?? "";
      if (!segment.startsWith(":")) return segment === part;
      params[segment.slice(1)] = part;
      // Ids are numbers, written as the interface writes them (contract A2).
      return /^(0|[1-9]\d{0,9})$/.test(part) && Number(part) < 2 ** 31;
    });
    if (fits) return { view, params, path };
  }
  return { view: undefined, params: {}, path };
}

/** The current view. */
export const place = computed(() => placeOf(path.value));
/** The list that stays in view behind it, or none. */
export const placeBehind = computed(() => (listBehind.value ? placeOf(listBehind.value) : undefined));

/** @param {import("./views.js").View} view @returns {boolean} whether it is for users like this one */
export const isMeant = ({ audience }) => audience === "everybody" || audience === (isMember() ? "members" : undefined);

/** @param {import("./views.js").View} view @returns {string} the scope that the user lacks to see it, or all that would do; if any */
export function missingScope({ scopes = [] }) {
  return scopes.length === 0 || scopes.some(may) ? "" : alternatives(scopes);
}

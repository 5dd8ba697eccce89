/** How readers of the published gallery get each logo and theme; known to users who may change one of them, and to members their blocks. */
import { computed, signal } from "./vendor/preact.js";
import { may, me } from "./session.js";
import { readStatus } from "./parts/publication/read_status.js";

/** What matters most first: the first two are not published. */
export const STATES = /** @type {const} */ (["blocked", "left_out", "risky"]);

/** @typedef {import("logoadmin/api").components["schemas"]["PublicationStatus"]} Status */
/** @typedef {typeof STATES[number]} State */
/** @typedef {{[S in State]?: Status[S][number]}} Known The entries of one record, by state. */

export const status = signal(/** @type {Status | undefined} */ (undefined));

/** By the kind and the id of a record. */
const states = computed(() => {
  /** @type {Map<string, Known>} */
  const found = new Map();
  for (const state of STATES) {
    for (const each of status.value?.[state] ?? []) {
      const key = `${each.kind} ${each.id}`;
      found.set(key, { [state]: each, ...found.get(key) });
    }
  }
  return found;
});

/** @param {"logo" | "theme"} kind @param {number} id @returns {Known} */
export const statesOf = (kind, id) => states.value.get(`${kind} ${id}`) ?? {};

/** Read them, which no list waits for. */
export async function readStates() {
  if (!["logos:write", "themes:write", "proposals:write"].some(may)) return;
  status.value = (await readStatus()) ?? status.value;
}

// The next user may not be allowed to see them.
me.subscribe((user) => {
  if (!user) status.value = undefined;
});

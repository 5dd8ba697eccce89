/** How readers of the published gallery get each logo and theme; known to users who may change one of them, and to members of their own. */
import { computed, signal } from "./vendor/preact.js";
import { call, ignoreFailure, writes } from "./client.js";
import { may, me } from "./session.js";

/** The most important state first: the first two are not published. */
export const STATES = /** @type {const} */ (["blocked", "left_out", "risky"]);

/** @typedef {typeof STATES[number]} State */
/** @typedef {{[S in State]?: Schemas["PublicationStatus"][S][number]}} Known The entries of one record, by state. */

export const status = signal(/** @type {Schemas["PublicationStatus"] | undefined} */ (undefined));

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

/** @type {Promise<void> | undefined} */
let reading;

/** Read them, which no list waits for; concurrent calls share one request. @returns {Promise<void>} */
export async function readStates() {
  if (["logos:write", "themes:write", "proposals:write"].some(may)) await (reading ??= read().catch(ignoreFailure).finally(() => (reading = undefined)));
}

/** Read them as of the last write of this page; after a failure, or for another user by then, the known ones stay. */
async function read() {
  const reader = me.value?.user_id;
  let data, before;
  do {
    before = writes;
    ({ data } = await call("get", "/api/publication"));
  } while (before !== writes);
  if (me.value?.user_id === reader) status.value = data;
}

// The next user may not be allowed to see them.
me.subscribe((user) => {
  if (!user) status.value = undefined;
});

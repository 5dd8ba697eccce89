/** What people are called whose numbers stand in the history; each is asked for once, and only those that are shown. */
import { effect, signal } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { FIRST_USER, me, may, pageConfig } from "../../session.js";
import { t } from "../../texts.js";

/** @typedef {import("../../vendor/preact.js").Signal<string>} Name */

/** @type {Map<number, Name>} */
const names = new Map();

/** @param {number | null} userId @returns {string} who that is; their number until it is known, and where it cannot be */
export function userName(userId) {
  // Without a token nobody writes where all must sign in, but the programs on the server.
  if (userId === null) return t(pageConfig.access === "guarded" ? "who.command" : "who.nobody");
  if (userId === me.value?.user_id) return me.value.username;
  let name = names.get(userId);
  if (!name) {
    name = signal("");
    names.set(userId, name);
    if (may("users:read")) void ask(userId, name);
  }
  return name.value || t("who.number", { id: String(userId) });
}

/** @param {import("./changes.js").Change | undefined} change @returns {string} who made it */
export function actor(change) {
  const isSetup = change?.user_id === null && change.action === "user.created" && change.id === FIRST_USER;
  return isSetup ? t("who.setup") : userName(change?.user_id ?? null);
}

/** @param {number} userId @param {Name} name */
async function ask(userId, name) {
  try {
    name.value = (await call("get", "/api/users/{user_id}", { path: { user_id: userId } })).data.username;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind === "missing") name.value = t("who.removed", { id: String(userId) });
    // Another time, perhaps.
    else names.delete(userId);
  }
}

let reader = me.value?.user_id;
effect(() => {
  // What one may see, another may not.
  if (me.value?.user_id !== reader) names.clear();
  reader = me.value?.user_id;
});

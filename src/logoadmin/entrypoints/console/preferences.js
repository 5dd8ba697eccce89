/**
 * The preferences of a user, such as cards or a table: one object, changed key by key. This browser keeps it for all its
 * tabs, and the service for all browsers of the user (contract J8).
 *
 * @typedef {Record<string, unknown>} Preferences
 */
import { computed, effect, signal } from "./vendor/preact.js";
import { call } from "./client.js";
import { person } from "./session.js";

const PATH = "/api/auth/me/preferences";

/** @type {Signal<Preferences>} */
const preferences = signal({});

/** Milliseconds: the first view does not wait for the service, and changes are gathered. */
const SOON = 500;
const userId = computed(person);
/** Where this browser keeps them. */
const key = () => `logoadmin.preferences.${userId.value ?? ""}`;
/** Where it keeps the changes that the service does not have yet. */
const unsent = () => `${key()}.unsent`;

/** @param {string} name @returns {Preferences} */
function stored(name) {
  try {
    const found = JSON.parse(localStorage.getItem(name) ?? "{}");
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

/** @param {string} name @param {Preferences} changes */
function store(name, changes) {
  const now = { ...stored(name), ...changes };
  localStorage.setItem(name, JSON.stringify(now));
  return now;
}

/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;
effect(() => {
  preferences.value = stored(key());
  if (userId.value !== undefined) exchangeSoon();
});

function exchangeSoon() {
  clearTimeout(timer);
  timer = setTimeout(() => void exchange(), SOON);
}

/** Send the changes that the service does not have, and receive those of other browsers; one tab at a time. */
async function exchange() {
  const name = unsent();
  const once = async () => {
    const changes = stored(name);
    const { data } = await call("get", PATH);
    const now = { .../** @type {Preferences} */ (data), ...changes };
    if (Object.keys(changes).length === 0) return now;
    await call("put", PATH, { body: /** @type {any} */ (now) });
    const isSent = (/** @type {[string, unknown]} */ [each, value]) => JSON.stringify(value) === JSON.stringify(changes[each]);
    const left = Object.entries(stored(name)).filter((entry) => !isSent(entry));
    localStorage.setItem(name, JSON.stringify(Object.fromEntries(left)));
    return now;
  };
  // Without HTTPS there are no locks. Unsent changes stay for the next time.
  const found = await (navigator.locks ? navigator.locks.request(name, once) : once()).catch(() => undefined);
  if (found && name === unsent()) preferences.value = store(key(), { ...found, ...stored(name) });
}

addEventListener("storage", (event) => {
  if (event.key === key()) preferences.value = stored(key());
});

/** @param {Preferences} changes */
export function prefer(changes) {
  preferences.value = store(key(), changes);
  if (userId.value === undefined) return;
  store(unsent(), changes);
  exchangeSoon();
}

/**
 * @template {string} T
 * @param {string} name @param {readonly T[]} choices The first one is that of users who prefer nothing.
 * @returns {T} one of them
 */
export function preferred(name, choices) {
  const found = /** @type {T} */ (preferences.value[name]);
  return choices.includes(found) ? found : /** @type {T} */ (choices[0]);
}

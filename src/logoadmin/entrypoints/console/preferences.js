/**
 * What a user prefers, such as the columns of a list: one object, changed key by key, which all tabs agree on.
 *
 * @typedef {Record<string, unknown>} Preferences
 */
import { effect, signal } from "./vendor/preact.js";
import { me } from "./session.js";

/** @type {import("./vendor/preact.js").Signal<Preferences>} */
export const preferences = signal({});

/** Where this browser keeps those of the user. */
const key = () => `logoadmin.preferences.${me.value?.user_id ?? ""}`;

/** @returns {Preferences} */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(key()) ?? "{}");
    return found && typeof found === "object" && !Array.isArray(found) ? found : {};
  } catch {
    return {};
  }
}

effect(() => void (preferences.value = kept()));
addEventListener("storage", (event) => {
  if (event.key === key()) preferences.value = kept();
});

/** @param {Preferences} changes */
export function prefer(changes) {
  preferences.value = { ...kept(), ...changes };
  localStorage.setItem(key(), JSON.stringify(preferences.value));
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

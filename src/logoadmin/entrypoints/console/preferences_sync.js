/** Exchanges preferences with the service, one tab at a time (contract J8). */
import { call } from "./client.js";

const PATH = "/api/auth/me/preferences";

/** @typedef {import("./preferences.js").Preferences} Preferences */

/**
 * @param {string} name Where this browser keeps the changes that the service does not have yet.
 * @param {(name: string) => Preferences} stored
 * @returns {Promise<Preferences>} what the service has now
 */
export async function exchange(name, stored) {
  const once = async () => {
    const changes = stored(name);
    const { data } = await call("get", PATH);
    const now = { .../** @type {Preferences} */ (data), ...changes };
    if (Object.keys(changes).length === 0) return now;
    await call("put", PATH, { body: /** @type {any} */ (now) });
    const isSent = (/** @type {[string, unknown]} */ [key, value]) => JSON.stringify(value) === JSON.stringify(changes[key]);
    const left = Object.entries(stored(name)).filter((entry) => !isSent(entry));
    localStorage.setItem(name, JSON.stringify(Object.fromEntries(left)));
    return now;
  };
  // Without HTTPS there are no locks.
  return navigator.locks ? navigator.locks.request(name, once) : once();
}

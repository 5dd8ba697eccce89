/** What the address for readers has now: its version, and its times. */
import { ROOT } from "../../client.js";
import { READ_LIMIT, timedFetch } from "../../timed_fetch.js";

export const ADDRESS = new URL("gallery/latest.json", ROOT);

/** @typedef {{version: number, issued: number, expires: number}} Latest */

/**
 * Reading it has the service publish, if anything has changed.
 *
 * @returns {Promise<Latest | undefined>} nothing where this service does not publish, or is away
 */
export async function readLatest() {
  try {
    const response = await timedFetch(ADDRESS, { cache: "no-cache", credentials: "omit" }, READ_LIMIT);
    if (!response.ok) return undefined;
    const { payload } = await response.json();
    return JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/")));
  } catch {
    return undefined;
  }
}

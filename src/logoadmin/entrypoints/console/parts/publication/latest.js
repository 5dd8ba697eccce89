/** What the address for readers has now: its version, and its times. */
import { ROOT } from "../../client.js";
import { READ_LIMIT, timedFetch } from "../../timed_fetch.js";

export const ADDRESS = new URL("gallery/latest.json", ROOT);

/** @typedef {{version: number, issued: number, expires: number}} Latest */

/** The service publishes within this time of a change, and is asked as often, in milliseconds. */
const PATIENCE = 3000;
const PAUSE = 300;

/**
 * Wait a moment for a version to be published, and return what is.
 *
 * @param {number} version
 * @returns {Promise<Latest | undefined>} nothing where this service does not publish, or is away
 */
export async function readLatest(version) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const { isServed, latest } = await read();
    if (!isServed || (latest && latest.version >= version) || Date.now() > end) return latest;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** @returns {Promise<{isServed: boolean, latest?: Latest}>} */
async function read() {
  try {
    const response = await timedFetch(ADDRESS, { cache: "no-cache", credentials: "omit" }, READ_LIMIT);
    // Before the first publication.
    if (!response.ok) return { isServed: response.status === 503 };
    const { payload } = await response.json();
    return { isServed: true, latest: JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/"))) };
  } catch {
    return { isServed: false };
  }
}

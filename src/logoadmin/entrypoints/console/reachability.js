/** Whether the service can be reached, and what is in the way. */
import { signal } from "./vendor/preact.js";
import { HOME } from "./router.js";
import { READ_LIMIT, timedFetch } from "./timed_fetch.js";

/**
 * The current obstacle: none, no network here, no way to the service, a service that refuses for now, or a database that
 * does not respond.
 * @typedef {"" | "offline" | "unreachable" | "refusing" | "away"} Obstacle
 */
export const trouble = signal(/** @type {Obstacle} */ (""));
/** Increases when the service is back, so that views read again. */
export const returned = signal(0);
/** @param {unknown} detail Of a 503: only the service itself knows of its database. @returns {Obstacle} */
export const obstacleOf = (detail) => (String(detail).startsWith("Cannot connect to the database") ? "away" : "refusing");

/** @type {ReturnType<typeof setTimeout> | undefined} */
let looking;
/** Milliseconds between two looks whether the service is back. */
const LOOK = 2000;

/** Report an obstacle, and look every now and then whether it still exists. @param {Obstacle} why @param {number} [seconds] The service asks for so much time. */
export function lost(why, seconds = 0) {
  trouble.value = why;
  looking ??= setTimeout(look, Math.max(LOOK, seconds * 1000));
}

/** Why no response arrives: browsers are sure only if there is no network at all. @returns {Obstacle} */
export const noWay = () => (navigator.onLine ? "unreachable" : "offline");

/** @returns {Promise<boolean>} whether nothing is in the way; otherwise `returned` increases as soon as that is over */
export async function isReachable() {
  const found = await obstacle();
  if (found) lost(found);
  return !found;
}

/** @returns {Promise<Obstacle>} */
async function obstacle() {
  try {
    // A cheap read that uses the database.
    const response = await timedFetch(new URL("../api/authors?limit=1", HOME), { cache: "no-store", credentials: "omit" }, READ_LIMIT);
    return response.status === 503 ? obstacleOf((await response.json().catch(() => undefined))?.detail) : "";
  } catch {
    return noWay();
  }
}

async function look() {
  clearTimeout(looking);
  looking = undefined;
  if (!trouble.value) return;
  const found = await obstacle();
  if (found) lost(found);
  else reached();
}

export function reached() {
  trouble.value = "";
  returned.value += 1;
}

addEventListener("offline", () => lost("offline"));
addEventListener("online", () => void look());

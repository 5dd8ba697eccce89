/** The network: whether the service can be reached and what is in the way, time limits, and requests that take long. */
import { signal } from "./vendor/preact.js";
import { HOME } from "./router.js";

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
  if (await isReachable()) reached();
}

export function reached() {
  trouble.value = "";
  returned.value += 1;
}

addEventListener("offline", () => lost("offline"));
addEventListener("online", () => void look());

/** Milliseconds without progress after which a read, a write, or a file on its way is given up. */
export const READ_LIMIT = 15_000;
export const WRITE_LIMIT = 30_000;
export const FILE_LIMIT = 120_000;

/** Statuses for which a `Response` cannot be made with a body, though browsers give them one. */
const WITHOUT_BODY = [204, 205, 304];

/** Neither a response nor the next part of one arrived within the limit. */
export class TimedOut extends Error {}

/** A clock that runs out unless there is progress. @param {number} limit Milliseconds. @param {AbortSignal | undefined} outer Aborts as well. */
export function timer(limit, outer) {
  const stop = new AbortController();
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let running;
  const end = () => clearTimeout(running);
  const progress = () => {
    end();
    running = setTimeout(() => stop.abort(new TimedOut()), limit);
  };
  progress();
  return { signal: outer ? AbortSignal.any([outer, stop.signal]) : stop.signal, progress, end };
}

/**
 * @param {URL} url
 * @param {RequestInit} init
 * @param {number} limit Milliseconds, for the beginning of the response and again for each part of its body.
 * @returns {Promise<Response>}
 * @throws {TimedOut} also while the body is read
 * @throws {TypeError} if no response arrives
 */
export async function timedFetch(url, init, limit) {
  const { signal, progress, end } = timer(limit, init.signal ?? undefined);
  try {
    const response = await fetch(url, { ...init, signal });
    if (!response.body || WITHOUT_BODY.includes(response.status)) {
      end();
      return response;
    }
    progress();
    const watch = new TransformStream({
      transform(chunk, controller) {
        progress();
        controller.enqueue(chunk);
      },
      flush: end,
    });
    return new Response(response.body.pipeThrough(watch), response);
  } catch (error) {
    end();
    throw error;
  }
}

/** Resolves when a page that was left is shown again. Until then, browsers abort its requests and block new pictures. @type {Promise<unknown> | undefined} */
let shown;
addEventListener("pagehide", () => (shown = new Promise((done) => addEventListener("pageshow", done))), true);

/** Milliseconds after which a request is slow. */
const SLOW = 400;

/** The number of slow requests, by what they do. */
export const slow = { read: signal(0), write: signal(0) };

/**
 * @template T
 * @param {keyof typeof slow} what
 * @param {Promise<T>} answer
 * @returns {Promise<T>} the same, which counts as slow after a while
 */
export async function watched(what, answer) {
  const count = slow[what];
  let isSlow = false;
  const late = setTimeout(() => {
    isSlow = true;
    count.value += 1;
  }, SLOW);
  try {
    return await answer;
  } finally {
    clearTimeout(late);
    if (isSlow) count.value -= 1;
    await shown;
  }
}

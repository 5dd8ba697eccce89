/** Requests that take long, so that the shell shows it. */
import { signal } from "./vendor/preact.js";

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
  }
}

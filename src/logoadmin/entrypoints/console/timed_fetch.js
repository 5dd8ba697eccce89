/** `fetch` with a time limit. */

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

/** What administrators decide for everybody, as it was last read (contract J8). */
import { call, Failure } from "./client.js";
import { shared } from "./look.js";
import { sayDone } from "./notices.js";
import { me } from "./session.js";
import { useRead } from "./parts/primitives/use_read.js";

export { shared };

/** @typedef {import("./look.js").Shared} Shared */

/** How often to start again when others change them at the same time. */
const ATTEMPTS = 3;

/** @param {AbortSignal} [abort] @returns {Promise<string>} their version, for `If-Match` */
export async function readShared(abort) {
  const { data, etag } = await call("get", "/api/settings", abort ? { signal: abort } : {});
  shared.value = data;
  return etag;
}

/** Read them as long as somebody is signed in. */
export const useShared = () => useRead(async (abort) => (me.value ? readShared(abort) : undefined), [me.value?.user_id]);

/**
 * Change some of them, and offer to undo that.
 *
 * @param {(now: Shared) => Partial<Shared>} change What another administrator has added in between stays.
 * @param {string} done What to report.
 * @throws {Failure}
 */
export async function amendShared(change, done) {
  for (let attempt = 1; ; attempt += 1) {
    const ifMatch = await readShared();
    try {
      const { data, requestId } = await call("patch", "/api/settings", { body: /** @type {any} */ (change(/** @type {Shared} */ (shared.value))), ifMatch });
      shared.value = data;
      return sayDone(done, [requestId], () => void readShared().catch(() => undefined));
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "outdated" || attempt === ATTEMPTS) throw error;
    }
  }
}

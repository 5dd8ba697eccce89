/** The settings for everybody, as they were last read (contract J8). */
import { computed } from "./vendor/preact.js";
import { call, Failure } from "./client.js";
import { shared } from "./look.js";
import { sayDone } from "./notices.js";
import { useRead } from "./parts/primitives/hooks.js";
import { me, pageConfig } from "./session.js";

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

/** @param {string} id @returns {string} how a target is called, as far as that is known */
export const targetName = (id) => String(shared.value?.gallery_targets?.[id]?.name ?? id);

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

/** The gallery itself is no other host. A submitter chooses every URL, so that none of those can make a host its own. */
export const OWN_HOSTS = [location.host, new URL(pageConfig.public_url).host];

/** As for `picture_hosts` in the configuration. */
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?$/;
export const fixedHosts = pageConfig.picture_hosts;
/** Those for everybody, as they were last read; none where that is not possible. */
export const sharedHosts = computed(() => shared.value?.picture_hosts ?? []);

/** @param {string} origin @param {string[]} hosts @returns {boolean} whether pictures from there are allowed for everybody */
export function isPictureHost(origin, hosts = [...fixedHosts, ...sharedHosts.value]) {
  const { hostname, port } = new URL(origin);
  return hosts.some((each) => {
    const [, name = "", at = ""] = /^(.*?)(?::(\d+))?$/.exec(each.toLowerCase()) ?? [];
    // As policies are read: without a port, it is the usual one.
    const isThere = name.startsWith("*.") ? hostname.endsWith(name.slice(1)) : hostname === name;
    return isThere && port === (at === (origin.startsWith("https:") ? "443" : "80") ? "" : at);
  });
}

/** @param {string} text A host, or the URL of a picture there. @returns {string | undefined} the host as the service wants it */
export function hostIn(text) {
  const [, scheme = "https://", any = "", rest = ""] = /^(https?:\/\/)?(\*\.)?(.*)$/is.exec(text.trim()) ?? [];
  const host = URL.canParse(scheme + rest) ? any + new URL(scheme + rest).host : "";
  return HOST.test(host) ? host : undefined;
}

/**
 * Allow hosts for everybody, or no longer, and offer to undo that.
 *
 * @param {string[]} some @param {boolean} isAllowed
 * @param {string} done What to report.
 * @throws {Failure}
 */
export function shareHosts(some, isAllowed, done) {
  return amendShared(({ picture_hosts: hosts }) => {
    const others = hosts.filter((each) => !some.includes(each));
    return { picture_hosts: isAllowed ? [...others, ...some] : others };
  }, done);
}

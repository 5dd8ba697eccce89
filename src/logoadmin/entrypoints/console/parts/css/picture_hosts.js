/**
 * The hosts from which previews may load pictures: those in the configuration of the service, which are fixed here, and
 * those that administrators allow for everybody (contract J8).
 */
import { signal } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { sayDone } from "../../notices.js";
import { me, pageConfig } from "../../session.js";
import { useRead } from "../primitives/use_read.js";

/** As for `picture_hosts` in the configuration. */
const HOST = /^(\*\.)?[a-z0-9-]+(\.[a-z0-9-]+)*(:\d+)?$/;
/** How often to start again when others change them at the same time. */
const ATTEMPTS = 3;

export const fixedHosts = pageConfig.picture_hosts;
/** Those for everybody, as they were last read; none where that is not possible. */
export const sharedHosts = signal(/** @type {string[]} */ ([]));

/** @param {AbortSignal} [abort] @returns {Promise<string | undefined>} their version, for `If-Match` */
async function read(abort) {
  const { data, etag } = await call("get", "/api/settings", abort ? { signal: abort } : {});
  sharedHosts.value = data.picture_hosts;
  return etag;
}

/** Read those for everybody, as long as somebody is signed in. */
export const useSharedHosts = () => useRead(async (abort) => (me.value ? read(abort) : undefined), [me.value?.user_id]);

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
 * Allow a host for everybody, or no longer, and offer to undo that.
 *
 * @param {string} host @param {boolean} isAllowed
 * @param {string} done What to report.
 * @throws {Failure}
 */
export async function shareHost(host, isAllowed, done) {
  for (let attempt = 1; ; attempt += 1) {
    const ifMatch = await read();
    const others = sharedHosts.value.filter((each) => each !== host);
    try {
      const { data, requestId } = await call("patch", "/api/settings", { body: { picture_hosts: isAllowed ? [...others, host] : others }, ifMatch });
      sharedHosts.value = data.picture_hosts;
      return sayDone(done, [requestId], () => void read().catch(() => undefined));
    } catch (error) {
      // What another administrator added in between stays.
      if (!(error instanceof Failure) || error.kind !== "outdated" || attempt === ATTEMPTS) throw error;
    }
  }
}

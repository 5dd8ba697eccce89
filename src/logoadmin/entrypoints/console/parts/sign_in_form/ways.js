/** The ways to sign in to this service (`GET /api/auth/ways`). */
import { signal } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { HOME } from "../../router.js";

/**
 * @typedef {object} Issuer
 * @property {string} name The host, or its name, to be shown.
 * @property {string} [failure] Why it cannot be used now.
 * @property {string} authorization_endpoint
 * @property {string} client_id
 * @property {string} redirect_uri
 * @property {string} scope Empty for none.
 * @property {string} issuer
 * @property {boolean} iss_in_response
 *
 * @typedef {{password: boolean, passkey: boolean, public_url: string, issuer: Issuer | null}} Ways
 */

/** Undefined until they are known. @type {import("../../vendor/preact.js").Signal<Ways | undefined>} */
export const ways = signal(undefined);

/** What every service has, until it says more, or where it cannot be asked. @type {Ways} */
export const USUAL = { password: true, passkey: false, public_url: "", issuer: null };

export async function readWays() {
  try {
    const { data } = await call("get", /** @type {any} */ ("/api/auth/ways"), { anonymous: true });
    ways.value = /** @type {Ways} */ (data);
  } catch {
    ways.value ??= USUAL;
  }
}

/** @param {Ways} found @returns {string} where passkeys and the issuer can be used, if it is another address than this one; empty if it is not */
export function otherAddress({ public_url: url }) {
  if (!url) return "";
  const home = new URL("console/", url.endsWith("/") ? url : `${url}/`);
  return home.href === HOME.href ? "" : home.href;
}

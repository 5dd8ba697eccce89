/** Bytes in base64url (RFC 4648 §5), without padding: how WebAuthn and OpenID Connect write them. */

/** @param {ArrayBuffer | Uint8Array<ArrayBuffer>} buffer @returns {string} */
export const base64url = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

/** @param {string} text base64url */
export const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (each) => each.charCodeAt(0));

/**
 * An optional member of a credential, which a password manager that stands in for the browser may lack or refuse.
 * @template T @param {() => T} read @returns {T | undefined}
 */
export function optional(read) {
  try {
    return read() ?? undefined;
  } catch {
    return undefined;
  }
}

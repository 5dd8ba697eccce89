/** A new passkey: what the browser does, and in words why it did not (contract O1). */
import { pageConfig } from "../../session.js";
import { t } from "../../texts.js";
import { base64url, bytes, optional } from "../primitives/base64url.js";

/** @returns {string} where passkeys can be created, if that is another address than this one; empty otherwise */
export function elsewhere() {
  const home = new URL(`${pageConfig.public_url}/console/`);
  return home.origin === location.origin ? "" : home.href;
}

/** @returns {string} why no passkey can be created on this page, and what helps; empty otherwise */
export function obstacle() {
  if (elsewhere()) return t("passkey.elsewhere", { url: elsewhere() });
  return "PublicKeyCredential" in globalThis ? "" : t("passkey.unsupported");
}

/** The browser, or a password manager that stands in for it, created no passkey. */
export class NotCreated extends Error {}

/** @param {NotCreated} error @returns {string} what happened, in words */
export function reasonOf({ cause }) {
  const name = cause instanceof Error ? cause.name : "";
  if (name === "InvalidStateError") return t("passkey.known");
  return t(name === "NotAllowedError" || name === "AbortError" ? "passkey.cancelled" : "passkey.unsupported");
}

/**
 * Create a passkey, which the browser asks the user about.
 *
 * Both conversions are our own: `parseCreationOptionsFromJSON` is missing in browsers before 2025, and `toJSON` in
 * password managers that stand in for the browser.
 *
 * @param {any} options as `PublicKeyCredential.parseCreationOptionsFromJSON` takes them
 * @returns {Promise<Schemas["CreatedCredential"]>} what the service reads of `PublicKeyCredential.toJSON`
 * @throws {NotCreated}
 */
export async function create({ challenge, user, excludeCredentials = [], ...others }) {
  const publicKey = {
    ...others,
    challenge: bytes(challenge),
    user: { ...user, id: bytes(user.id) },
    excludeCredentials: excludeCredentials.map((/** @type {{id: string}} */ each) => ({ ...each, id: bytes(each.id) })),
  };
  try {
    const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey }));
    const response = /** @type {AuthenticatorAttestationResponse} */ (credential.response);
    return {
      id: optional(() => credential.id) ?? base64url(credential.rawId),
      type: "public-key",
      response: {
        clientDataJSON: base64url(response.clientDataJSON),
        attestationObject: base64url(response.attestationObject),
        transports: optional(() => [...response.getTransports()]) ?? [],
      },
    };
  } catch (error) {
    throw new NotCreated(String(error), { cause: error });
  }
}

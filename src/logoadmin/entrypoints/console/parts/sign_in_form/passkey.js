/** Passkeys in the browser, as second factor and alone (contract O2). */
import { post, refusal } from "../../session.js";
import { base64url, bytes, optional } from "../primitives/base64url.js";

/** Whether the browser has them here: over TLS, or on localhost. */
export const hasPasskeys = "PublicKeyCredential" in globalThis;

/** The time after which an offer is renewed, in milliseconds: its challenge ends after five minutes. */
const RENEWAL = 240_000;

/** Nobody chose a passkey: no fault of anything. */
export class NotChosen extends Error {}

/**
 * Let the user choose a passkey.
 *
 * Both conversions are our own: `parseRequestOptionsFromJSON` is missing in browsers before 2025, and `toJSON` in password
 * managers that stand in for the browser.
 *
 * @param {any} options as `PublicKeyCredential.parseRequestOptionsFromJSON` takes them
 * @param {CredentialRequestOptions} [more]
 * @returns {Promise<object>} as `PublicKeyCredential.toJSON` returns it
 * @throws {NotChosen}
 */
export async function chosen({ challenge, allowCredentials = [], ...others }, more) {
  const publicKey = {
    ...others,
    challenge: bytes(challenge),
    allowCredentials: allowCredentials.map((/** @type {{id: string}} */ each) => ({ ...each, id: bytes(each.id) })),
  };
  try {
    const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.get({ publicKey, ...more }));
    const response = /** @type {AuthenticatorAssertionResponse} */ (credential.response);
    const { authenticatorData, clientDataJSON, signature } = response;
    const userHandle = optional(() => response.userHandle);
    const id = optional(() => credential.id) ?? base64url(credential.rawId);
    return {
      id,
      rawId: id,
      type: "public-key",
      clientExtensionResults: {},
      response: {
        authenticatorData: base64url(authenticatorData),
        clientDataJSON: base64url(clientDataJSON),
        signature: base64url(signature),
        ...(userHandle ? { userHandle: base64url(userHandle) } : {}),
      },
    };
  } catch (error) {
    throw new NotChosen(String(error), { cause: error });
  }
}

/** @param {CredentialRequestOptions} [more] @returns {Promise<object>} the grant of a sign-in with a passkey alone @throws {NotChosen | import("../../session.js").Refused} */
export async function passkeyAlone(more) {
  const response = await post("auth/passkey/options", {});
  if (!response.ok) throw await refusal(response);
  const { challenge, options } = await response.json();
  return { grant_type: "passkey", challenge, passkey: await chosen(options, more) };
}

/**
 * Let the browser offer passkeys among the names that it knows, for as long as nobody chooses one.
 *
 * @param {AbortSignal} signal
 * @returns {Promise<object | undefined>} the grant; undefined where browsers do not do that, or were told to stop
 */
export async function offered(signal) {
  const isOffering = hasPasskeys && (await optional(() => PublicKeyCredential.isConditionalMediationAvailable().catch(() => false)));
  if (!isOffering) return undefined;
  while (!signal.aborted) {
    const renewal = AbortSignal.timeout(RENEWAL);
    try {
      return await passkeyAlone({ mediation: "conditional", signal: AbortSignal.any([signal, renewal]) });
    } catch {
      if (!renewal.aborted) return undefined;
      await seen(signal);
    }
  }
  return undefined;
}

/** @param {AbortSignal} signal @returns {Promise<void>} once somebody looks at the page */
function seen(signal) {
  if (!document.hidden) return Promise.resolve();
  return new Promise((done) => document.addEventListener("visibilitychange", () => done(), { once: true, signal }));
}

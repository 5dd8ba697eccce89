/**
 * Signing in at an issuer: the code flow with PKCE and state, and with a nonce where it is one of OpenID Connect (contract O7).
 *
 * The sign-in page goes there itself, and the answer is for the same tab. Where a session goes on or has ended in place,
 * a window of its own goes there, so that nothing typed is lost; it comes back to this module, passes the answer on to
 * the tab that began, and closes.
 */
import { signal } from "../../vendor/preact.js";
import { say } from "../../notices.js";
import { AT_ISSUER, HOME, path } from "../../router.js";
import { hasSession, me, Refused, signIn, signInAs } from "../../session.js";
import { loadMoreTexts, t } from "../../texts.js";
import { base64url } from "../primitives/base64url.js";
import { ask } from "../primitives/dialog.js";

/** @typedef {import("./attempt.js").Issuer} Issuer */
/** @typedef {Issuer & {state: string, nonce: string, verifier: string, view: string}} Begun `view`: where one wanted to go. */

/** The text key of an error at the issuer that may be shown. */
export class NotAtIssuer extends Error {
  /** @param {TextKey} key */
  constructor(key) {
    super(key);
    this.key = key;
  }
}

/** Why the sign-in that the page came back from failed. */
export const issuerProblem = signal(/** @type {unknown} */ (undefined));

const windows = () => new BroadcastChannel(`logoadmin issuer ${HOME.pathname}`);

const random = () => base64url(crypto.getRandomValues(new Uint8Array(32)));

/** Whether it is an issuer of OpenID Connect, which can say when it authenticated somebody. @param {Issuer} issuer */
export const isOpenId = ({ scope }) => scope.split(" ").includes("openid");

/** @param {Issuer} issuer @param {boolean} isAgain Whether the issuer should ask who it is, even if it knows. @returns {Promise<{url: string, begun: Begun}>} */
export async function beginning(issuer, isAgain) {
  const begun = { ...issuer, state: random(), nonce: random(), verifier: random(), view: `${path.value}${location.search}` };
  const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(begun.verifier));
  const url = new URL(issuer.authorization_endpoint);
  const asked = {
    response_type: "code",
    client_id: issuer.client_id,
    redirect_uri: issuer.redirect_uri,
    state: begun.state,
    code_challenge: base64url(digest),
    code_challenge_method: "S256",
    ...(isOpenId(issuer) ? { scope: issuer.scope, nonce: begun.nonce } : {}),
    // With max_age, the issuer has to say when it authenticated the person, and the service checks it.
    ...(isAgain ? (isOpenId(issuer) ? { prompt: "login", max_age: "600" } : { prompt: "select_account" }) : {}),
  };
  for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
  return { url: url.href, begun };
}

/** Go there with this tab. @param {Issuer} issuer */
export async function goToIssuer(issuer) {
  const { url, begun } = await beginning(issuer, false);
  sessionStorage.setItem(AT_ISSUER, JSON.stringify(begun));
  location.assign(url);
}

/**
 * Go there with a window of its own. Called by a click, since browsers let nothing else open one.
 *
 * @param {{url: string, begun: Begun}} prepared
 * @param {AbortSignal} stop
 * @throws {NotAtIssuer | import("../../session.js").Refused | import("../../session.js").OtherUser}
 */
export async function askIssuer({ url, begun }, stop) {
  const answers = windows();
  stop.addEventListener("abort", () => answers.close());
  // Its policy cuts every tie to the window, so whether that is closed cannot be seen.
  if (!window.open(url, "", "popup,width=520,height=680")) throw new NotAtIssuer("signIn.issuer.blocked");
  const answer = await new Promise((done) => {
    answers.onmessage = ({ data }) => {
      const found = new URLSearchParams(data.answer);
      if (found.get("state") !== begun.state) return;
      answers.postMessage({ taken: begun.state });
      done(found);
    };
  });
  answers.close();
  await exchange(begun, answer);
}

/** Finish the sign-in that the page came back from. @param {URLSearchParams} answer */
export async function finish(answer) {
  const begun = JSON.parse(sessionStorage.getItem(AT_ISSUER) ?? "{}");
  sessionStorage.removeItem(AT_ISSUER);
  const state = answer.get("state");
  try {
    if (begun.state === state) await exchange(begun, answer);
    else if (!(await isTaken(answer, state))) throw new NotAtIssuer("signIn.issuer.failed");
    else {
      close();
      // In a browser that does not let it close, it becomes another tab of the console.
      await new Promise((done) => setTimeout(done, 2000));
    }
  } catch (error) {
    issuerProblem.value = error;
  }
}

/** @param {URLSearchParams} answer @param {string | null} state @returns {Promise<boolean>} whether another tab waits for it */
function isTaken(answer, state) {
  const answers = windows();
  return new Promise((done) => {
    answers.onmessage = ({ data }) => data.taken === state && done(true);
    answers.postMessage({ answer: String(answer) });
    setTimeout(() => done(false), 500);
  });
}

/** @param {Begun} begun @param {URLSearchParams} answer */
async function exchange({ nonce, verifier, redirect_uri, issuer, iss_in_response }, answer) {
  const iss = answer.get("iss");
  // Another issuer than ours has answered (RFC 9207).
  if (iss === null ? iss_in_response : iss !== issuer) throw new NotAtIssuer("signIn.issuer.other");
  const code = answer.get("code");
  if (answer.has("error") || !code) throw new NotAtIssuer(answer.get("error") === "access_denied" ? "signIn.issuer.denied" : "signIn.issuer.failed");
  await signIn({ grant_type: "authorization_code", code, code_verifier: verifier, nonce, redirect_uri });
}

/** Sign in, unless this tab has a session, which nobody else's link may replace unasked. @param {string} link */
export async function finishLink(link) {
  if (hasSession()) return;
  await signIn({ grant_type: "link", link }).catch((error) => (issuerProblem.value = error));
}

/** Ask the user who is signed in whether to go on as the member of the link. @param {string} link */
export async function offer(link) {
  const user = me.value;
  if (user && !(await ask({ title: t("link.title"), text: t("link.text", { name: user.username }), yes: t("link.yes"), no: t("link.no") }))) return;
  try {
    await signInAs({ grant_type: "link", link });
  } catch (error) {
    await loadMoreTexts("sign_in");
    const isOver = error instanceof Refused && error.status === 401;
    say(t(isOver ? "signIn.link.over" : "failure.away"), { tone: "failed" });
  }
}

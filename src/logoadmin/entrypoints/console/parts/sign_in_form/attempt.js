/** The state that all ways to sign in share: which there are, one attempt at a time, and why it failed. */
import { h, signal, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { TimedOut } from "../../network.js";
import { describe, say } from "../../notices.js";
import { HOME } from "../../router.js";
import { me, OtherUser, Refused } from "../../session.js";
import { t } from "../../texts.js";
import { Counted } from "../primitives/basics.js";
import { useLeft } from "../primitives/hooks.js";
import { NotAtIssuer } from "./issuer.js";
import { NotChosen } from "./passkey.js";

/** @typedef {{text: string, until: number}} Problem Until then, in milliseconds, it is too soon to try again; 0 for at once. */
/** @type {Problem} */
const NONE = { text: "", until: 0 };

/** Refusals that say more than that it was wrong. @type {Record<string, TextKey>} */
const DETAILS = {
  "Signing in with a password is switched off": "signIn.password.off",
  "No role for your groups at the issuer": "signIn.issuer.role",
};

/** @param {unknown} error @param {TextKey} wrong what a 401 means @returns {Problem} */
function problemOf(error, wrong) {
  if (error instanceof NotChosen) return { text: t("signIn.passkey.none"), until: 0 };
  if (error instanceof NotAtIssuer) return { text: t(error.key), until: 0 };
  if (error instanceof OtherUser) return { text: t("again.other", { name: me.value?.username ?? "" }), until: 0 };
  if (!(error instanceof Refused)) return { text: t(error instanceof TimedOut ? "failure.late" : "failure.away"), until: 0 };
  const { status, seconds } = error;
  if (status >= 500 && status !== 503) return { text: describe(new Failure("fault", error.more)), until: 0 };
  if (status === 429 && seconds) return { text: tooOften(seconds), until: Date.now() + seconds * 1000 };
  return { text: t(status === 429 ? "failure.busy.moment" : status === 503 ? "failure.away" : (DETAILS[error.more.detail] ?? wrong)), until: 0 };
}

/** @param {number} left */
const tooOften = (left) => (left ? t("failure.wait", { n: left }) : t("failure.busy.over"));

/** @param {unknown} [failed] What stands there before the first attempt: a text, or why one before it failed. */
export function useAttempt(failed) {
  const [problem, setProblem] = useState(() => (typeof failed === "string" ? { text: failed, until: 0 } : failed ? problemOf(failed, "signIn.issuer.failed") : NONE));
  const [busy, setBusy] = useState(false);
  const left = useLeft(problem.until);
  /** @param {() => Promise<void>} act @param {TextKey} wrong what a 401 means @returns {Promise<unknown>} why it failed, if it did */
  const run = async (act, wrong) => {
    if (busy || left > 0) return undefined;
    setBusy(true);
    setProblem(NONE);
    try {
      await act();
      return undefined;
    } catch (error) {
      setProblem(problemOf(error, wrong));
      return error;
    } finally {
      setBusy(false);
    }
  };
  /** As `run`, beside which another way may be taken: it may never end. @param {() => Promise<void>} act @param {TextKey} wrong */
  const wait = (act, wrong) => act().catch((error) => setProblem(problemOf(error, wrong)));
  return { problem, busy, left, run, wait, clear: () => setProblem(NONE), off: busy || left > 0 };
}

/** @typedef {ReturnType<typeof useAttempt>} Attempt */

/** @param {{attempt: Attempt}} props */
export function Refusal({ attempt: { problem, left } }) {
  return h("p", { id: "refused", class: "problem", role: "alert" }, h(Counted, { ...problem, left, words: tooOften }));
}

/** @param {{attempt: Attempt, words: string, tone?: string}} props */
export function Submit({ attempt: { busy, off }, words, tone = "primary" }) {
  return h("button", { class: `button ${tone} wide`, "aria-disabled": off }, busy ? t("signIn.busy") : words);
}

/** @param {{id: string, label: string, attempt: Attempt, hint?: string, [name: string]: any}} props */
export function Field({ id, label, attempt, hint, ...others }) {
  return h("div", { class: "field" },
    h("label", { class: "label", for: id }, label),
    h("input", { class: "input", id, name: id, required: true, spellcheck: false, autocapitalize: "none", "aria-describedby": hint ? `refused ${id}-hint` : "refused", ...others }),
    hint && h("p", { id: `${id}-hint`, class: "hint" }, hint),
  );
}

/**
 * Try a name as it was typed; where it is refused, without the blanks around it, then as other keyboards compose it.
 *
 * @param {string} typed
 * @param {(name: string) => Promise<void>} act
 * @param {(words: string) => void} [tell] that the name is another one than was typed
 */
export async function withName(typed, act, tell = say) {
  const name = typed.trim();
  const names = [...new Set([typed, name, name.normalize("NFC"), name.normalize("NFD")])];
  for (const [at, each] of names.entries()) {
    try {
      await act(each);
      if (each !== typed) tell(t("signIn.corrected", { name: each }));
      return;
    } catch (error) {
      if (at === names.length - 1 || !(error instanceof Refused && error.status === 401)) throw error;
    }
  }
}

/** @typedef {Schemas["IssuerWay"] & {failure?: string}} Issuer `failure`: why it cannot be used now; then it has nothing else but its name. */
/** @typedef {Omit<Schemas["SignInWays"], "issuer"> & {issuer: Issuer | null}} Ways */

/** Undefined until they are known. @type {Signal<Ways | undefined>} */
export const ways = signal(undefined);

/** The ways that every service has, until it names others, or where it cannot be asked. @type {Ways} */
export const USUAL = { password: true, passkey: false, public_url: "", issuer: null };

export async function readWays() {
  try {
    const { data } = await call("get", "/api/auth/ways", { anonymous: true });
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

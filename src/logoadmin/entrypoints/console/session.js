/**
 * The session. The access token is in memory, the refresh token in sessionStorage, and no cookies exist: another site
 * cannot make the browser send credentials.
 *
 * All tabs of one person share the session over a BroadcastChannel: a tab that refreshes sends the others the new tokens,
 * and a tab asks the others for newer ones before it refreshes. Tabs that refresh the same token at the same time send the
 * same Idempotency-Key, so the server replays the response instead of treating the second request as reuse (contract F3).
 * The key is the time of the sign-in and a random value, plus the number of refreshes since: tabs that follow the same
 * refreshes agree on it, of two sessions the later one has the greater key, and it cannot be derived from a token or the
 * database.
 *
 * @typedef {import("logoadmin/api").components["schemas"]["Me"]} Me
 * @typedef {{access: string, refresh: string, key: string, until: number}} Tokens `key` is for exchanging `refresh`.
 */
import { signal, computed } from "./vendor/preact.js";
import { HOME, isUnsaved } from "./router.js";
import { READ_LIMIT, timedFetch, WRITE_LIMIT } from "./timed_fetch.js";

/** What the server writes into the page. @type {{version: string, license: string, access: "open" | "guarded", picture_hosts: string[], public_url: string, demo: boolean}} */
export const pageConfig = JSON.parse(document.querySelector('meta[name="logoadmin"]')?.getAttribute("content") ?? "{}");

const KEPT = "logoadmin.refresh";
/** Beside the token, so that a duplicated tab, whose sessionStorage is a copy, exchanges it under the same key. */
const KEPT_KEY = "logoadmin.key";
const API = new URL("../api/", HOME);
const others = new BroadcastChannel(`logoadmin ${HOME.pathname}`);

/** `starting` until the session is known; `ended` while the dialog asks for a sign-in before anything goes on. */
export const state = signal(/** @type {"starting" | "out" | "in" | "ended"} */ ("starting"));
/** @type {import("./vendor/preact.js").Signal<Me | undefined>} */
export const me = signal(/** @type {Me | undefined} */ (undefined));
/** @returns {string | undefined} what a later user with the same id has not */
export const person = () => me.value && `${me.value.user_id}-${me.value.user_since}`;

/** Whether the dialog asks for a sign-in because a request needs a recent one (contract O3); the session goes on. */
export const asksAgain = signal(false);
/** Whether the user may do nothing but enrol a second factor (contract O4). */
export const mustEnrol = signal(false);

const scopes = computed(() => new Set(me.value?.scope ?? []));
/** @param {string} scope @returns {boolean} whether one may do something, as far as is known here; the server judges. */
export const may = (scope) => scopes.value.has(scope) || scopes.value.has("*");

/** @type {Tokens | undefined} */
let tokens;
/** When the current token was issued, in seconds by the clock of the service. */
let issued = 0;
/** @type {Promise<boolean> | undefined} */
let refreshing;
/** @type {(() => void)[]} */
let waiting = [];

/** Why a sign-in or a new token was refused: `seconds` to wait after too many attempts; `answer` is the whole body. */
export class Refused extends Error {
  /** @param {{status: number, seconds: number, detail: string, requestId: string, answer: any}} more */
  constructor(more) {
    super(`sign-in: ${more.status}`);
    this.status = more.status;
    this.seconds = more.seconds;
    this.more = more;
  }
}

/** @param {Response} response @returns {Promise<Refused>} */
export async function refusal(response) {
  const answer = await response.json().catch(() => ({}));
  const seconds = Number(response.headers.get("Retry-After") ?? 0) || 0;
  const detail = String(answer.detail ?? "");
  return new Refused({ status: response.status, seconds, detail, requestId: response.headers.get("X-Request-Id") ?? "", answer });
}

/** Somebody else signed in where only the same user may go on; that session has been ended. */
export class OtherUser extends Error {}

/** @returns {boolean} whether this tab has a session, as far as is known before the service was asked */
export const hasSession = () => sessionStorage.getItem(KEPT) !== null;

/** Look for a session in this tab, or in another one, unless somebody has just signed in. */
export async function startSession() {
  if (state.value !== "starting") return;
  const kept = sessionStorage.getItem(KEPT);
  if (kept) tokens = { access: "", refresh: kept, key: sessionStorage.getItem(KEPT_KEY) ?? firstKey(), until: 0 };
  else tokens = await askOthers();
  try {
    // Another tab may have replaced the session that was kept.
    if (tokens && (tokens.access || (await refresh()) || (tokens = await askOthers()))) await whoAmI();
  } catch {
    // The service is unavailable: the session may still be valid, so it is kept and tried again.
  }
  if (state.value !== "starting") return;
  state.value = "out";
  if (tokens) void resume();
}

/** Whether a session may exist that cannot be checked now. */
export const isAway = signal(false);

/** Resume a session that could not be checked, as soon as possible, unless a user signs in first. */
async function resume() {
  isAway.value = true;
  while (tokens && state.value === "out") {
    await new Promise((done) => setTimeout(done, 2000));
    if (state.value === "out") await whoAmI().catch(() => undefined);
  }
  isAway.value = false;
}

/**
 * The last step of every way to sign in. Where somebody is signed in, the new session replaces theirs in all tabs.
 *
 * @param {object} grant the body of `POST /api/auth/token`
 * @throws {Refused | OtherUser}
 */
export async function signIn(grant) {
  const response = await post("auth/token", grant);
  if (!response.ok) throw await refusal(response);
  const replaced = me.value && tokens?.refresh;
  await take(response, firstKey());
  if (replaced) void revoke(replaced);
  await whoAmI();
  goOn();
}

/** Sign in as another user: the session of this tab ends in all tabs once that has succeeded. @param {object} grant the body of `POST /api/auth/token` @throws {Refused} */
export async function signInAs(grant) {
  const response = await post("auth/token", grant);
  if (!response.ok) throw await refusal(response);
  const replaced = tokens?.refresh;
  others.postMessage({ ended: subject() });
  forget();
  await take(response, firstKey());
  if (replaced) void revoke(replaced);
  await whoAmI();
}

/** End the session, here and in all tabs. */
export async function signOut() {
  const refreshToken = tokens?.refresh;
  others.postMessage({ ended: subject() });
  forget();
  if (refreshToken) await revoke(refreshToken);
}

/** @param {string} refreshToken */
const revoke = (refreshToken) => post("auth/revoke", { refresh_token: refreshToken }).catch(() => undefined);

/** Read the current user again, since rights may have changed. */
export async function whoAmI() {
  let response = await fetchMe();
  // Another tab may have passed on a token that the server no longer accepts.
  if (response.status === 401 && tokens && (await refresh())) response = await fetchMe();
  if (!response.ok) return;
  me.value = await response.json();
  mustEnrol.value = Boolean(me.value?.must_enrol);
  state.value = "in";
}

const fetchMe = async () =>
  timedFetch(
    new URL("auth/me", API),
    { headers: { Authorization: `Bearer ${await freshToken()}` }, cache: "no-store", credentials: "omit" },
    READ_LIMIT,
  );

/** @returns {Promise<string>} an access token that is good for a while yet; empty where nobody is signed in. */
export async function freshToken() {
  if (tokens && !isFresh(tokens)) await refresh();
  if (!tokens && state.value === "ended") await signedInAgain();
  return tokens?.access ?? "";
}

/** @param {string} refused the access token that was refused @returns {Promise<string>} another one, for which a person may have had to sign in again; empty if they would not. */
export async function renewed(refused) {
  if (tokens && tokens.access !== refused) return tokens.access;
  if (!(await refresh())) await signedInAgain();
  return tokens?.access ?? "";
}

/** @returns {Promise<string>} the access token of a new session of the same user; empty if they would not sign in again. */
export async function recentToken() {
  const before = tokens?.key;
  asksAgain.value = true;
  await wait();
  return tokens && before && isOther(tokens.key, before) ? tokens.access : "";
}

/** @returns {Promise<void>} until somebody has signed in, or has given up. */
async function signedInAgain() {
  if (state.value === "out") return;
  state.value = "ended";
  await wait();
}

const wait = () => new Promise((done) => waiting.push(/** @type {() => void} */ (done)));

/** Go on with what waits for a sign-in, or for its refusal. */
export function goOn() {
  asksAgain.value = false;
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

/** @returns {Promise<boolean>} whether there is a new access token */
function refresh() {
  refreshing ??= exchanged().finally(() => (refreshing = undefined));
  return refreshing;
}

/** @param {Tokens} given @returns {boolean} whether its access token will be valid for a while */
const isFresh = (given) => given.until > Date.now() + 10_000;

/** @returns {Promise<boolean>} whether there is a new access token, from another tab or from the server */
async function exchanged() {
  const before = tokens?.access;
  await newerTokens();
  if (!tokens) return false;
  if (tokens.access !== before && isFresh(tokens)) return true;
  const { refresh: used, key } = tokens;
  const response = await post("auth/token", { grant_type: "refresh_token", refresh_token: used }, key);
  if (!tokens) return false; // the user signed out meanwhile
  if (tokens.refresh !== used) return tokens.access ? true : exchanged(); // another tab was faster
  if (response.ok) {
    await take(response, nextKey(key));
    return true;
  }
  if (response.status >= 500 || response.status === 429) throw await refusal(response);
  // A tab that missed it when another one replaced the session.
  tokens = { access: "", refresh: used, key: "", until: 0 };
  await newerTokens();
  if (tokens && tokens.refresh !== used) return true;
  ended();
  return false;
}

/** @returns {string} 128 random bits as hexadecimal; crypto.randomUUID exists on pages with TLS only */
export const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @returns {string} the key for the first refresh of a session: the time and 80 random bits */
const firstKey = () => `${Date.now().toString(16).padStart(12, "0")}${randomKey().slice(12)}.0`;

/** @param {string} key @returns {{session: string, number: number}} */
function parsedKey(key) {
  const [session = "", number = "0"] = key.split(".");
  return { session, number: Number(number) };
}

/** @param {string} key @returns {string} the key for the refresh token that is obtained under this one */
function nextKey(key) {
  const { session, number } = parsedKey(key);
  return `${session}.${number + 1}`;
}

/** @param {string} key @param {string} other @returns {boolean} whether they are keys of two sessions */
const isOther = (key, other) => parsedKey(key).session !== parsedKey(other).session;

/** @param {Tokens} given @param {string} key @returns {boolean} whether the tokens are of the session of this key, and as new: a tab that slept may send old ones */
function replaces(given, key) {
  const theirs = parsedKey(given.key);
  const ours = parsedKey(key);
  if (isOther(given.key, key)) return false;
  return theirs.number > ours.number || (theirs.number === ours.number && given.access !== "");
}

/** End the session here; waiting requests continue after a sign-in. */
function ended() {
  tokens = undefined;
  dropTokens();
  if (state.value === "in") state.value = "ended";
}

/** @param {Tokens} given */
function storeTokens(given) {
  tokens = given;
  sessionStorage.setItem(KEPT, given.refresh);
  sessionStorage.setItem(KEPT_KEY, given.key);
}

function dropTokens() {
  sessionStorage.removeItem(KEPT);
  sessionStorage.removeItem(KEPT_KEY);
}

/** Store the tokens of a response, which may be replayed, and send them to the other tabs. @param {Response} response @param {string} key for exchanging the refresh token in it @throws {OtherUser} */
async function take(response, key) {
  const given = await response.json();
  // By the clock of the service, which may differ from ours.
  const { exp, iat, sub } = claims(given.access_token);
  if (me.value && String(me.value.user_id) !== sub) {
    void revoke(given.refresh_token);
    throw new OtherUser();
  }
  const left = Number(exp) * 1000 - Date.parse(response.headers.get("Date") ?? "");
  // A token that follows another directly is fresh, even if a proxy's clock differs.
  const isNew = Math.abs(Number(iat) - issued) < 10;
  issued = Number(iat);
  const until = Date.now() + (isNew || Number.isNaN(left) ? given.expires_in * 1000 : left);
  storeTokens({ access: given.access_token, refresh: given.refresh_token, key, until });
  others.postMessage({ tokens, subject: subject() });
}

function forget() {
  listening.abort();
  tokens = undefined;
  me.value = undefined;
  mustEnrol.value = false;
  dropTokens();
  state.value = "out";
  goOn();
}

/** @param {string} token @returns {Record<string, unknown>} what it says, unverified */
function claims(token) {
  try {
    return JSON.parse(atob((token.split(".")[1] ?? "").replaceAll("-", "+").replaceAll("_", "/")));
  } catch {
    return {};
  }
}

const subject = () => (tokens?.access ? claims(tokens.access).sub : String(me.value?.user_id ?? ""));

/** Milliseconds that a tab waits for newer tokens before it refreshes, and a new tab for any before it asks for the password. */
const AT_ONCE = 50;
const SOON = 120;
/** Milliseconds for which a new tab continues to listen after that. */
const LATE = 5000;
const listening = new AbortController();
let adopted = () => {};

/** @returns {Promise<void>} once another tab has sent newer tokens, or none did in time */
function newerTokens() {
  return new Promise((done) => {
    adopted = done;
    others.postMessage({ asks: true, key: tokens?.key });
    setTimeout(done, AT_ONCE);
  });
}

/** @returns {Promise<Tokens | undefined>} the tokens of another tab, if there is one that answers soon */
function askOthers() {
  return new Promise((found) => {
    /** @param {MessageEvent} event */
    const heard = ({ data }) => {
      if (!data.tokens) return;
      listening.abort();
      if (state.value !== "starting") return void takeLate(data.tokens);
      storeTokens(data.tokens);
      found(data.tokens);
    };
    others.addEventListener("message", heard, { signal: listening.signal });
    others.postMessage({ asks: true });
    setTimeout(found, SOON);
    setTimeout(() => listening.abort(), LATE);
  });
}

/** Another tab was too busy to respond before this one asked for the password, which is no longer needed. @param {Tokens} given */
async function takeLate(given) {
  if (tokens) return;
  storeTokens(given);
  await whoAmI().catch(() => undefined);
  if (state.value === "out") forget();
}

others.addEventListener("message", ({ data }) => {
  const canHelp = data.asks && tokens && (data.key ? replaces(tokens, data.key) : tokens.access);
  if (canHelp) others.postMessage({ tokens, subject: subject() });
  // Unsaved input stays behind the password dialog.
  if (data.ended && data.ended === subject()) (isUnsaved() ? ended : forget)();
  if (data.tokens && isOurs(data.tokens, data.subject)) {
    const isNew = !tokens || isOther(data.tokens.key, tokens.key);
    storeTokens(data.tokens);
    adopted();
    if (state.value === "ended") state.value = "in";
    if (isNew) goOn();
  }
});

/**
 * @param {Tokens} given @param {string} subject
 * @returns {boolean} whether they are newer ones of our session, or of a later session of the same person: another tab may
 *   have signed in as somebody else
 */
function isOurs(given, subject) {
  if (tokens && !isOther(given.key, tokens.key)) return replaces(given, tokens.key);
  // Two tabs may sign in again at the same time: both go on with the later session.
  return given.access !== "" && subject === String(me.value?.user_id) && given.key > (tokens?.key ?? "");
}

/** @param {string} path below `/api/` @param {object} body @param {string} [key] @returns {Promise<Response>} without a token */
export function post(path, body, key) {
  const headers = { "Content-Type": "application/json", ...(key ? { "Idempotency-Key": key } : {}) };
  const init = /** @type {const} */ ({ method: "POST", headers, body: JSON.stringify(body), cache: "no-store", credentials: "omit" });
  return timedFetch(new URL(path, API), init, WRITE_LIMIT);
}

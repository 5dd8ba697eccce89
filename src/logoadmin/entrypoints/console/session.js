/**
 * The session. The access token is in memory, the refresh token in sessionStorage, and no cookies exist: another site
 * cannot make the browser send credentials.
 *
 * All tabs of one person share the session over a BroadcastChannel: a tab that refreshes sends the others the new tokens,
 * and a tab asks the others for newer ones before it refreshes. A refresh token that another tab is known to have used is
 * never sent, however late that tab responds: it would end the session. A token that is used again at once, by two tabs at the same
 * time or after a lost response, gives another pair of the same session (contract C3). Tabs tell newer tokens from older
 * ones by the session and the time of issue that the access token names.
 *
 * @typedef {{session: string, begun: number, issued: number}} Stamp The id of the session, when it began and when these tokens were issued, in seconds by the clock of the service.
 * @typedef {Stamp & {access: string, refresh: string, until: number}} Tokens
 */
import { signal, computed } from "./vendor/preact.js";
import { HOME, isUnsaved, leaving, navigate } from "./router.js";
import { READ_LIMIT, timedFetch, WRITE_LIMIT } from "./network.js";

/** What the server writes into the page. @type {{version: string, license: string, access: "open" | "guarded", picture_hosts: string[], public_url: string, demo: boolean, page: boolean, like: Record<string, string>, look: {title: string, home: string, submit: string | null, gallery_title: string | null, gallery_mark: string | null, gallery_accent: string | null}}} */
export const pageConfig = JSON.parse(document.querySelector('meta[name="logoadmin"]')?.getAttribute("content") ?? "{}");

const KEPT = "logoadmin.refresh";
/** Beside the token, so that a reloaded or restored tab knows whether those of other tabs are newer. */
const KEPT_STAMP = "logoadmin.stamp";
/** The stamp of the newest tokens of all tabs, in localStorage: a tab whose tokens are older knows that its own were used. */
const NEWEST = "logoadmin.newest";
/** Of tokens of which nothing is known. @type {Stamp} */
const UNKNOWN = { session: "", begun: 0, issued: 0 };
const API = new URL("../api/", HOME);
const others = new BroadcastChannel(`logoadmin ${HOME.pathname}`);

/** `starting` until the session is known; `ended` while the dialog asks for a sign-in before anything goes on. */
export const state = signal(/** @type {"starting" | "out" | "in" | "ended"} */ ("starting"));
export const me = signal(/** @type {Schemas["Me"] | undefined} */ (undefined));
/** @returns {string | undefined} what a later user with the same id has not */
export const person = () => me.value && `${me.value.user_id}-${me.value.user_since}`;

/** Whether the dialog asks for a sign-in because a request needs a recent one (contract O3); the session goes on. */
export const asksAgain = signal(false);
/** Whether the user may do nothing but enrol a second factor (contract O4). */
export const mustEnrol = signal(false);
/** Whether one is at it: whatever the service says meanwhile, the recovery codes stay until they are kept. */
export const enrolling = signal(false);

const scopes = computed(() => new Set(me.value?.scope ?? []));
/** @param {string} scope @returns {boolean} whether one may do something, as far as is known here; the server judges. */
export const may = (scope) => scopes.value.has(scope) || scopes.value.has("*");

/** @type {Tokens | undefined} */
let tokens;
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
  if (kept) tokens = { access: "", refresh: kept, until: 0, ...UNKNOWN, ...JSON.parse(sessionStorage.getItem(KEPT_STAMP) ?? "{}") };
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

/** The first password, from the sign-in to its change, which follows at once; a reload forgets it. */
export const typed = { password: "" };

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
  const response = await granted(grant);
  const replaced = me.value && tokens?.refresh;
  await take(response);
  if (replaced) void revoke(replaced);
  await whoAmI();
  goOn();
}

/** Sign in as another user: the session of this tab ends in all tabs once that has succeeded. @param {object} grant the body of `POST /api/auth/token` @throws {Refused} */
export async function signInAs(grant) {
  const response = await granted(grant);
  const replaced = tokens?.refresh;
  others.postMessage({ ended: subject() });
  forget();
  await take(response);
  if (replaced) void revoke(replaced);
  await whoAmI();
}

/** @param {object} grant @returns {Promise<Response>} with tokens @throws {Refused} */
async function granted(grant) {
  const response = await post("auth/token", grant);
  if (!response.ok) throw await refusal(response);
  return response;
}

/** Sign out, after a question if input is unsaved. Without the session, a decision that is being sent would be refused. */
export async function leave() {
  if (!(await navigate(""))) return;
  await leaving.sent();
  await signOut();
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
  const before = tokens?.session;
  asksAgain.value = true;
  await wait();
  return tokens && before && tokens.session !== before ? tokens.access : "";
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

/** @param {Tokens} given @returns {boolean} whether another tab has had newer tokens for them */
function isUsed({ session, issued }) {
  const newest = JSON.parse(localStorage.getItem(NEWEST) ?? "{}");
  return newest.session === session && newest.issued > issued;
}

/** @returns {Promise<boolean>} whether there is a new access token, from another tab or from the server */
async function exchanged() {
  const before = tokens?.access;
  await newerTokens();
  if (!tokens) return false;
  if (tokens.access !== before && isFresh(tokens)) return true;
  if (isUsed(tokens)) {
    ended();
    return false;
  }
  const { refresh: used } = tokens;
  const response = await post("auth/token", { grant_type: "refresh_token", refresh_token: used });
  if (!tokens) return false; // the user signed out meanwhile
  if (tokens.refresh !== used) return tokens.access ? true : exchanged(); // another tab was faster
  if (response.ok) {
    await take(response);
    return true;
  }
  if (response.status >= 500 || response.status === 429) throw await refusal(response);
  // A tab that missed it when another one replaced the session.
  tokens = { access: "", refresh: used, until: 0, ...UNKNOWN };
  await newerTokens();
  if (tokens && tokens.refresh !== used) return true;
  ended();
  return false;
}

/** @returns {string} 128 random bits as hexadecimal; crypto.randomUUID exists on pages with TLS only */
export const randomKey = () =>
  Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");

/** @param {Tokens} given @returns {Stamp} */
const stampOf = ({ session, begun, issued }) => ({ session, begun, issued });

/** @param {Tokens} given @param {Stamp} stamp @returns {boolean} whether they are of the same session, and as new: a tab that slept may send old ones */
function replaces(given, { session, issued }) {
  return given.session === session && (given.issued > issued || (given.issued === issued && given.access !== ""));
}

/** @param {Stamp} given @param {Stamp} other @returns {boolean} whether it is the later of two sessions, on which all tabs agree */
const isLater = (given, other) => given.begun > other.begun || (given.begun === other.begun && given.session > other.session);

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
  const stamp = JSON.stringify(stampOf(given));
  sessionStorage.setItem(KEPT_STAMP, stamp);
  localStorage.setItem(NEWEST, stamp);
}

function dropTokens() {
  sessionStorage.removeItem(KEPT);
  sessionStorage.removeItem(KEPT_STAMP);
}

/** Store the tokens of a response, and send them to the other tabs. @param {Response} response @throws {OtherUser} */
async function take(response) {
  const given = await response.json();
  const { iat, sid, sub } = claims(given.access_token);
  if (me.value && String(me.value.user_id) !== sub) {
    void revoke(given.refresh_token);
    throw new OtherUser();
  }
  const until = Date.now() + given.expires_in * 1000;
  const begun = tokens && tokens.session === sid ? tokens.begun : Number(iat);
  storeTokens({ access: given.access_token, refresh: given.refresh_token, until, session: String(sid), begun, issued: Number(iat) });
  others.postMessage({ tokens, subject: subject() });
}

function forget() {
  listening.abort();
  tokens = undefined;
  me.value = undefined;
  mustEnrol.value = false;
  dropTokens();
  localStorage.removeItem(NEWEST);
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
    others.postMessage({ asks: true, stamp: tokens && stampOf(tokens) });
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
  const canHelp = data.asks && tokens && (data.stamp?.session ? replaces(tokens, data.stamp) : tokens.access);
  if (canHelp) others.postMessage({ tokens, subject: subject() });
  // Unsaved input stays behind the password dialog.
  if (data.ended && data.ended === subject()) (isUnsaved() ? ended : forget)();
  if (data.tokens && isOurs(data.tokens, data.subject)) {
    const isNew = data.tokens.session !== tokens?.session;
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
  if (given.session === tokens?.session) return replaces(given, tokens);
  // Two tabs may sign in again at the same time: both go on with the later session.
  return given.access !== "" && subject === String(me.value?.user_id) && isLater(given, tokens ?? UNKNOWN);
}

/** @param {string} path below `/api/` @param {object} body @returns {Promise<Response>} without a token */
export function post(path, body) {
  const headers = { "Content-Type": "application/json" };
  const init = /** @type {const} */ ({ method: "POST", headers, body: JSON.stringify(body), cache: "no-store", credentials: "omit" });
  return timedFetch(new URL(path, API), init, WRITE_LIMIT);
}

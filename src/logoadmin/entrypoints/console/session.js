/**
 * Who is signed in. The access token is in memory, the refresh token in sessionStorage, and no cookie anywhere: another
 * site can make the browser send nothing that means us.
 *
 * All tabs of one person share the session: one that refreshes tells the others, and a new one asks them. Should two
 * refresh with the same token all the same, the key that is made of it gives both the same answer.
 *
 * @typedef {import("./types/api").components["schemas"]["Me"]} Me
 * @typedef {{access: string, refresh: string, until: number}} Tokens
 */
import { signal, computed, effect } from "./vendor/preact.js";
import { HOME, isUnsaved } from "./router.js";

/**
 * What the service tells the page about itself.
 * @type {{version: string, license: string, database: string, access: "open" | "guarded", picture_hosts: string[]}}
 */
export const told = JSON.parse(document.querySelector('meta[name="logoadmin"]')?.getAttribute("content") ?? "{}");

const KEPT = "logoadmin.refresh";
const API = new URL("../api/", HOME);
const others = new BroadcastChannel(`logoadmin ${HOME.pathname}`);

/** `starting` until it is known whether there is a session; `ended` while the password is asked for in place. */
export const state = signal(/** @type {"starting" | "out" | "in" | "ended"} */ ("starting"));
/** @type {import("./vendor/preact.js").Signal<Me | undefined>} */
export const me = signal(/** @type {Me | undefined} */ (undefined));

/** The first administrator, and what a password looks like that the program made for them (contract H3). */
const FIRST_USER = 2_000_000_000;
const GENERATED = /^[\w-]{43}$/;
const OFFERED = "logoadmin.generated";
/** Whether the person still has the password that the program made and printed: they are offered to choose one. */
export const generatedPassword = signal(sessionStorage.getItem(OFFERED) !== null);
effect(() => (generatedPassword.value ? sessionStorage.setItem(OFFERED, "") : sessionStorage.removeItem(OFFERED)));

const scopes = computed(() => new Set(me.value?.scope ?? []));
/** @param {string} scope @returns {boolean} whether one may do something, as far as is known here; the server judges. */
export const may = (scope) => scopes.value.has(scope) || scopes.value.has("*");

/** @type {Tokens | undefined} */
let tokens;
/** When the last of them was given, in seconds by the clock of the service. */
let issued = 0;
/** @type {Promise<boolean> | undefined} */
let refreshing;
/** @type {(() => void)[]} */
let waiting = [];

/** Why a sign-in was refused: `seconds` to wait, if it was too often. */
export class Refused extends Error {
  /** @param {number} status @param {number} seconds */
  constructor(status, seconds) {
    super(`sign-in: ${status}`);
    this.status = status;
    this.seconds = seconds;
  }
}

/** @param {Response} response */
const refusal = (response) => new Refused(response.status, Number(response.headers.get("Retry-After") ?? 0) || 0);

/** @returns {boolean} whether this tab has a session, as far as is known before the service was asked */
export const hasSession = () => sessionStorage.getItem(KEPT) !== null;

/** Find out whether there is a session: in this tab, or in another one. */
export async function startSession() {
  const kept = sessionStorage.getItem(KEPT);
  if (kept) tokens = { access: "", refresh: kept, until: 0 };
  else tokens = await askOthers();
  try {
    if (tokens && (tokens.access || (await refresh()))) await whoAmI();
  } catch {
    // Out of reach: the session may well be there, so it is kept, and asked for again.
  }
  if (state.value !== "starting") return;
  state.value = "out";
  if (tokens) void resume();
}

/** Whether a session may be there that cannot be reached. */
export const isAway = signal(false);

/** Go on with a session that could not be reached, as soon as it can be, unless somebody signs in before. */
async function resume() {
  isAway.value = true;
  while (tokens && state.value === "out") {
    await new Promise((done) => setTimeout(done, 2000));
    if (state.value === "out") await whoAmI().catch(() => undefined);
  }
  isAway.value = false;
}

/** @param {string} username @param {string} password @throws {Refused} */
export async function signIn(username, password) {
  const response = await ask("auth/token", { username, password });
  if (!response.ok) throw refusal(response);
  await take(response);
  await whoAmI();
  generatedPassword.value = me.value?.user_id === FIRST_USER && GENERATED.test(password);
  goOn();
}

/** End the session, here and in all tabs. */
export async function signOut() {
  const refreshToken = tokens?.refresh;
  others.postMessage({ ended: subject() });
  forget();
  if (refreshToken) await ask("auth/revoke", { refresh_token: refreshToken }).catch(() => undefined);
}

/** Ask the service once more who one is: rights may have changed. */
export async function whoAmI() {
  const response = await fetch(new URL("auth/me", API), {
    headers: { Authorization: `Bearer ${await freshToken()}` },
    cache: "no-store",
    credentials: "omit",
  });
  if (!response.ok) return;
  me.value = await response.json();
  state.value = "in";
}

/** @returns {Promise<string>} an access token that is good for a while yet; empty where nobody is signed in. */
export async function freshToken() {
  if (tokens && tokens.until < Date.now() + 10_000) await refresh();
  if (!tokens && state.value === "ended") await signedInAgain();
  return tokens?.access ?? "";
}

/**
 * @param {string} refused the access token that was not good any more
 * @returns {Promise<string>} another one, for which a person may have had to sign in again; empty if they would not.
 */
export async function renewed(refused) {
  if (tokens && tokens.access !== refused) return tokens.access;
  if (!(await refresh())) await signedInAgain();
  return tokens?.access ?? "";
}

/** @returns {Promise<void>} until somebody has signed in, or has given up. */
function signedInAgain() {
  if (state.value === "out") return Promise.resolve();
  state.value = "ended";
  return new Promise((done) => waiting.push(done));
}

function goOn() {
  const resumed = waiting;
  waiting = [];
  for (const resume of resumed) resume();
}

/** @returns {Promise<boolean>} whether there is a new access token */
function refresh() {
  refreshing ??= exchanged().finally(() => (refreshing = undefined));
  return refreshing;
}

async function exchanged() {
  // An answer that was given before, to another tab, may be old: then its own refresh token leads on.
  for (let tries = 0; tokens && tries < 50; tries += 1) {
    const { refresh: used } = tokens;
    const response = await ask("auth/token", { grant_type: "refresh_token", refresh_token: used }, await keyOf(used));
    if (!tokens) return false; // the person signed out meanwhile, and stays so
    if (!response.ok) {
      if (tokens.refresh !== used) return true; // another tab was quicker
      if (response.status >= 500 || response.status === 429) throw refusal(response);
      ended();
      return false;
    }
    await take(response);
    if (tokens.until > Date.now() + 10_000) return true;
  }
  return false;
}

/** The session is over; what waits for it goes on after a sign-in. */
function ended() {
  tokens = undefined;
  sessionStorage.removeItem(KEPT);
  if (state.value === "in") state.value = "ended";
}

/**
 * Take the tokens of an answer, which may be an old one that was given again.
 * @param {Response} response
 */
async function take(response) {
  const given = await response.json();
  // By the clock of the service, which may be another than ours.
  const { exp, iat } = claims(given.access_token);
  const left = Number(exp) * 1000 - Date.parse(response.headers.get("Date") ?? "");
  // What is given right after another is new, whatever the clock says of who stands before the service.
  const isNew = Math.abs(Number(iat) - issued) < 10;
  issued = Number(iat);
  const until = Date.now() + (isNew || Number.isNaN(left) ? given.expires_in * 1000 : left);
  tokens = { access: given.access_token, refresh: given.refresh_token, until };
  sessionStorage.setItem(KEPT, tokens.refresh);
  others.postMessage({ tokens, subject: subject() });
}

function forget() {
  listening.abort();
  tokens = undefined;
  me.value = undefined;
  generatedPassword.value = false;
  sessionStorage.removeItem(KEPT);
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

/** Milliseconds that a new tab waits for others before it asks for the password, and that it listens to them after that. */
const SOON = 120;
const LATE = 5000;
const listening = new AbortController();

/** @returns {Promise<Tokens | undefined>} the tokens of another tab, if there is one that answers soon */
function askOthers() {
  return new Promise((found) => {
    /** @param {MessageEvent} event */
    const heard = ({ data }) => {
      if (!data.tokens) return;
      listening.abort();
      if (state.value !== "starting") return void takeLate(data.tokens);
      sessionStorage.setItem(KEPT, data.tokens.refresh);
      found(data.tokens);
    };
    others.addEventListener("message", heard, { signal: listening.signal });
    others.postMessage({ asks: true });
    setTimeout(found, SOON);
    setTimeout(() => listening.abort(), LATE);
  });
}

/**
 * Another tab was too busy to answer before this one asked for the password, which need not be given after all.
 * @param {Tokens} given
 */
async function takeLate(given) {
  if (tokens) return;
  tokens = given;
  sessionStorage.setItem(KEPT, given.refresh);
  await whoAmI().catch(() => undefined);
  if (state.value === "out") forget();
}

others.addEventListener("message", ({ data }) => {
  if (data.asks && tokens?.access) others.postMessage({ tokens, subject: subject() });
  // What is typed here stays, behind the question for the password.
  if (data.ended && data.ended === subject()) (isUnsaved() ? ended : forget)();
  // Only those of the same person: another tab may have signed in as somebody else.
  if (data.tokens && me.value && data.subject === String(me.value.user_id)) {
    tokens = data.tokens;
    sessionStorage.setItem(KEPT, data.tokens.refresh);
    if (state.value === "ended") {
      state.value = "in";
      goOn();
    }
  }
});

/** @param {string} path @param {object} body @param {string} [key] */
function ask(path, body, key) {
  return fetch(new URL(path, API), {
    method: "POST",
    headers: { "Content-Type": "application/json", ...(key ? { "Idempotency-Key": key } : {}) },
    body: JSON.stringify(body),
    cache: "no-store",
    credentials: "omit",
  });
}

/** @param {string} token @returns {Promise<string>} a key that tells nothing of it */
async function keyOf(token) {
  if (crypto.subtle) {
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(token));
    return Array.from(new Uint8Array(digest), (byte) => byte.toString(16).padStart(2, "0")).join("");
  }
  // A page without TLS has no SHA-256. 64 bits of FNV-1a tell nothing useful of 256 random ones either.
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(token)) hash = BigInt.asUintN(64, (hash ^ BigInt(byte)) * 0x100000001b3n);
  return `fnv-${hash.toString(16)}`;
}

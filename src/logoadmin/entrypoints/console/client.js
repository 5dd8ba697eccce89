/**
 * The one client of the interface: tokens, conditions, idempotency keys, and errors by remedy.
 *
 * @typedef {import("logoadmin/api").paths} Paths
 * @typedef {{loc: (string | number)[], msg: string, type: string}} Problem
 *
 * Kinds of failure, by remedy:
 * - `away`: nothing was done, because the service or its database is unavailable; can be retried
 * - `late`: nothing was done, because no response arrived in time; can be retried
 * - `unknown`: a write whose response was lost; `repeat()` sends it again with the same key
 * - `recent`: nothing was done, because it needs a recent sign-in and nobody signed in (contract O3)
 * - `signedOut`, `forbidden`, `missing`, `conflict` (400, 409), `outdated` (412), `tooLarge`
 * - `invalid`: `problems` lists the fields
 * - `wait`: too many requests; wait for `seconds`
 * - `fault`: an internal error of the service
 * @typedef {"away" | "late" | "unknown" | "recent" | "signedOut" | "forbidden" | "missing" | "conflict" | "outdated" | "tooLarge" |
 *   "invalid" | "wait" | "fault"} FailureKind
 */
import { HOME } from "./router.js";
import { FILE_LIMIT, lost, noWay, obstacleOf, reached, READ_LIMIT, timedFetch, TimedOut, trouble, watched, WRITE_LIMIT } from "./network.js";
import { freshToken, mustEnrol, randomKey, recentToken, Refused, renewed, state, whoAmI } from "./session.js";

/** Ignore the failure of a call; any other error is thrown again. @param {unknown} error */
export function ignoreFailure(error) {
  if (!(error instanceof Failure)) throw error;
}

/** The address of the interface, beside the console. */
export const ROOT = new URL("../", HOME);
export { returned, trouble } from "./network.js";

/** The number of completed writes: a read that started before the last one may be stale. */
export let writes = 0;

/** The service asks for this many seconds with each 503: nobody needs to see them pass. */
const MOMENT = 2;

export class Failure extends Error {
  /** @param {FailureKind} kind @param {{status?: number, detail?: string, problems?: Problem[], seconds?: number, requestId?: string, isLate?: boolean, repeat?: () => Promise<any>}} [more] */
  constructor(kind, { status = 0, detail = "", problems = [], seconds = 0, requestId = "", isLate = false, repeat } = {}) {
    super(detail || kind);
    this.kind = kind;
    this.status = status;
    this.detail = detail;
    this.problems = problems;
    this.seconds = seconds;
    this.isLate = isLate;
    /** Whether trying again later may help. */
    this.passes = ["away", "late", "unknown", "wait"].includes(kind);
    /** Before this moment, in milliseconds, it is too soon to try again; 0 where nothing is to be waited for. */
    this.until = seconds > (kind === "wait" ? 0 : MOMENT) ? Date.now() + seconds * 1000 : 0;
    /** The id to quote to the administrator, where the service is at fault. */
    this.reference = kind === "fault" || status >= 500 ? requestId : "";
    this.repeat = repeat;
  }
}

/**
 * @template T
 * @typedef {object} Answer
 * @property {T} data
 * @property {string} etag What `ifMatch` wants, empty where there is none.
 * @property {string} requestId What undoes it, see `notices.js`.
 * @property {string} next The path of the next page, empty at the last one.
 * @property {boolean} unmodified Whether the version that `ifNoneMatch` named is still it; there is no data then.
 */

/** @typedef {Pick<More<any>, "signal" | "progress" | "anonymous" | "keepalive"> & {method: string, path: string, body?: string | Blob | undefined, headers: Record<string, string>}} Request */

/** @typedef {(sent: number, whole: number) => void} Progress How many bytes of a file are on their way. */

/** @typedef {"get" | "post" | "put" | "patch" | "delete"} Method */
/** @template {keyof Paths} P @template {Method} M @typedef {NonNullable<Paths[P][M]>} Operation */
/** @template O @typedef {O extends {requestBody: {content: {"application/json": infer B}}} ? B : O extends {requestBody?: {content: {"application/json": infer B}}} ? B : undefined} BodyOf */
/** @template O @typedef {O extends {responses: {200: {content: {"application/json": infer A}}}} ? A : O extends {responses: {201: {content: {"application/json": infer A}}}} ? A : unknown} AnswerOf */
/** @template O @typedef {O extends {parameters: {path: infer P}} ? P : undefined} PathOf */
/** @template O @typedef {O extends {parameters: {query?: infer Q}} ? Q : undefined} QueryOf */
/**
 * @template O
 * @typedef {object} More
 * @property {PathOf<O>} [path]
 * @property {QueryOf<O>} [query]
 * @property {BodyOf<O>} [body]
 * @property {string} [ifMatch] An ETag: do it only if the record is still this one.
 * @property {string} [ifNoneMatch] An ETag: answer only if there is something newer.
 * @property {Blob} [file] In place of a body.
 * @property {string} [type] The media type of the file; JSON Lines if it is missing.
 * @property {Progress} [progress] Of the file.
 * @property {boolean} [anonymous] Without a token: it is for everybody, and waits for no sign-in.
 * @property {AbortSignal} [signal]
 * @property {boolean} [keepalive] Though the page is being closed.
 * @property {string} [note] Why it is sent, for the history.
 */

/**
 * Send a request, and wait for a sign-in if the session has ended.
 *
 * @template {keyof Paths} P
 * @template {Method} M
 * @param {M} method
 * @param {P} path
 * @param {More<Operation<P, M>>} [more]
 * @returns {Promise<Answer<AnswerOf<Operation<P, M>>>>}
 * @throws {Failure}
 */
export function call(method, path, more = {}) {
  /** @type {Record<string, string>} */
  const headers = {};
  if (more.body !== undefined) headers["Content-Type"] = "application/json";
  if (more.ifMatch) headers["If-Match"] = more.ifMatch;
  if (more.ifNoneMatch) headers["If-None-Match"] = more.ifNoneMatch;
  // One key for each action: a repeated request has no second effect.
  if (method === "post") headers["Idempotency-Key"] = randomKey();
  // With an id from us, the request can be undone even if its response is lost.
  if (method !== "get") headers["X-Request-Id"] = randomKey();
  // The history says that a change was made here (contract G5).
  if (method !== "get") headers["X-Requested-With"] = "logoadmin-console";
  // Headers hold no Cyrillic letters.
  if (more.note) headers["X-Change-Note"] = encodeURIComponent(more.note);
  if (more.file) headers["Content-Type"] = more.type ?? "application/jsonl";
  const body = more.body === undefined ? more.file : JSON.stringify(more.body);
  return sent({ ...more, method: method.toUpperCase(), path: filled(path, more.path, more.query), body, headers });
}

/**
 * Request a streamed response, such as an export.
 *
 * @param {string} path @param {object} query @param {AbortSignal} [signal]
 * @returns {Promise<Response>} with a successful status, before its body
 * @throws {Failure}
 */
export async function opened(path, query, signal) {
  const request = { method: "GET", path: filled(path, undefined, query), headers: {}, ...(signal && { signal }) };
  const response = await responseTo(request);
  if (response.ok) return response;
  throw refused(request, response, await response.json().catch(() => undefined));
}

/** Read a file that belongs to the console. @param {URL} url @returns {Promise<any>} from its JSON @throws {Failure} */
export async function readFile(url) {
  return (await fetched({ method: "GET", path: url.href, headers: {} }, "", "default")).json();
}

/** @param {string} path @param {unknown} fields @param {unknown} query @returns {string} */
function filled(path, fields, query) {
  const values = /** @type {Record<string, unknown>} */ (fields ?? {});
  const whole = path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(String(values[name])));
  const asked = Object.entries(/** @type {Record<string, unknown>} */ (query ?? {}));
  // A list is sent as a repeated parameter.
  const all = asked.flatMap(([name, value]) => [value].flat().map((each) => [name, each]));
  const given = all.filter(([, value]) => value !== undefined && value !== "");
  const text = new URLSearchParams(given.map(([name, value]) => [String(name), String(value)])).toString();
  return text ? `${whole}?${text}` : whole;
}

/** @param {Request} request @param {boolean} [again] @returns {Promise<Answer<any>>} */
function sent(request, again = false) {
  const answer = responseTo(request).then((response) => answered(request, response, again));
  return watched(request.method === "GET" ? "read" : "write", answer);
}

/** @param {Request} request @returns {Promise<Response>} */
async function responseTo(request) {
  const token = request.anonymous ? "" : await tokenFor(request, freshToken);
  // The user signed out while the request waited for a token: an open service would accept it from anyone.
  if (!token && request.method !== "GET" && state.peek() === "out") throw new Failure("signedOut");
  const response = await fetched(request, token);
  if (response.status !== 401 || !token) return response;
  const another = await (needsRecent(response) ? recentToken() : tokenFor(request, () => renewed(token)));
  // Without a new sign-in, the request is not sent anonymously either, which an open service would accept.
  return another ? fetched(request, another) : response;
}

/** @param {Response} response @returns {boolean} whether the request needs a recent sign-in (RFC 9470) */
const needsRecent = (response) => /insufficient_user_authentication/.test(response.headers.get("WWW-Authenticate") ?? "");

/** @param {Request} request @param {() => Promise<string>} get */
async function tokenFor(request, get) {
  try {
    return await get();
  } catch (error) {
    // The request itself was never sent.
    const repeat = () => sent(request);
    if (error instanceof Refused && error.status === 429) throw new Failure("wait", { ...error.more, repeat });
    if (error instanceof TimedOut) throw new Failure("late", { repeat });
    if (error instanceof Refused && error.status !== 503) throw new Failure("fault", { ...error.more, repeat });
    lost(error instanceof Refused ? obstacleOf(error.more.detail) : noWay());
    throw new Failure("away", { ...(error instanceof Refused ? error.more : {}), repeat });
  }
}

/** @param {Request} request @param {string} token @param {RequestCache} [cache] Public reads may be cached for a minute, in which a saved record would look unchanged. @returns {Promise<Response>} */
async function fetched(request, token, cache = "no-cache") {
  const headers = token ? { ...request.headers, Authorization: `Bearer ${token}` } : request.headers;
  const { method, body = null, signal = null, keepalive = false } = request;
  try {
    const url = new URL(request.path.replace(/^\//, ""), ROOT);
    const response = request.progress
      ? await (await import("./upload.js")).uploaded(url, { ...request, headers }, FILE_LIMIT)
      : await timedFetch(url, { method, headers, body, signal, keepalive, cache, credentials: "omit", redirect: "error" }, method === "GET" ? READ_LIMIT : WRITE_LIMIT);
    if (trouble.value && response.status !== 503) reached();
    return response;
  } catch (error) {
    if (request.signal?.aborted) throw error;
    throw unanswered(request, {}, error);
  }
}

/**
 * @param {Request} request @param {{status?: number, detail?: string, seconds?: number, requestId?: string}} more
 * @param {unknown} [error] Why no response was read.
 * @returns {Failure} nobody knows whether a write was done, and a read does no harm twice.
 */
function unanswered(request, more, error) {
  const isLate = error instanceof TimedOut || more.status === 504;
  // A slow response says nothing of the way to the service.
  if (error && !isLate) lost(noWay());
  const kind = request.method !== "GET" ? "unknown" : isLate ? "late" : "away";
  return new Failure(kind, { ...more, isLate, repeat: () => sent(request, true) });
}

/** The paths whose writes may change the user's own rights. */
const RIGHTS = /^\/api\/(roles|users|changes|import)\b/;

/** @param {Request} request @param {Response} response @param {boolean} again @returns {Promise<Answer<any>>} */
async function answered(request, response, again) {
  const etag = response.headers.get("ETag") ?? "";
  // A replayed response has the request id of the first one.
  const requestId = (again && request.headers["X-Request-Id"]) || (response.headers.get("X-Request-Id") ?? "");
  const next = /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("Link") ?? "")?.[1] ?? "";
  if (response.status === 304) return { data: undefined, etag, requestId, next, unmodified: true };
  let data;
  try {
    data = await response.json();
  } catch (error) {
    if (request.signal?.aborted) throw error;
    // A proxy may refuse a request with a text of its own; after other failures the outcome is unknown.
    if (response.status < 400 || response.status >= 500) throw unanswered(request, { status: response.status, requestId }, error instanceof SyntaxError ? undefined : error);
  }
  if (response.ok) {
    if (request.method !== "GET" && request.path !== "/api/css/verdict") writes += 1;
    // The change may affect the user's own rights.
    if (request.method !== "GET" && RIGHTS.test(request.path)) void whoAmI().catch(() => undefined);
    return { data, etag, requestId, next, unmodified: false };
  }
  if (again) {
    const done = await alreadyDone(request, response.status);
    if (done) return { ...done, requestId };
  }
  // The user's rights may have changed: the view then shows the reason for the refusal.
  if (data?.detail === "A second factor must be enrolled") mustEnrol.value = true;
  if (response.status === 403) await whoAmI().catch(() => undefined);
  throw refused(request, response, data);
}

/** @type {Record<number, FailureKind>} */
const KINDS = { 400: "conflict", 401: "signedOut", 403: "forbidden", 404: "missing", 409: "conflict", 412: "outdated", 413: "tooLarge", 422: "invalid", 429: "wait" };

/** @param {Request} request @param {Response} response @param {any} data */
function refused(request, response, data) {
  const { status } = response;
  const detail = typeof data?.detail === "string" ? data.detail : "";
  const seconds = secondsOf(response.headers.get("Retry-After") ?? "");
  const requestId = response.headers.get("X-Request-Id") ?? request.headers["X-Request-Id"] ?? "";
  const more = { status, detail, problems: Array.isArray(data?.detail) ? data.detail : [], seconds, requestId };
  if (status === 504) return unanswered(request, more);
  if (status !== 503) return new Failure(needsRecent(response) ? "recent" : (KINDS[status] ?? "fault"), more);
  const obstacle = obstacleOf(detail);
  lost(obstacle, seconds);
  // The service refuses before it begins; what stands before it may have lost a response.
  return detail && obstacle === "refusing" ? new Failure("away", { ...more, repeat: () => sent(request, true) }) : unanswered(request, more);
}

/** @param {string} after `Retry-After`: seconds, or a date @returns {number} seconds; 0 where it does not say */
function secondsOf(after) {
  const until = /^\d+$/.test(after) ? Number(after) : (Date.parse(after) - Date.now()) / 1000;
  return Math.max(0, Math.ceil(until)) || 0;
}

/**
 * A retried write may already have taken effect: a POST has its key, and for others the record shows it.
 * @param {Request} request @param {number} status
 * @returns {Promise<Answer<any> | undefined>}
 */
async function alreadyDone(request, status) {
  if (request.method === "DELETE" && status === 404) {
    return { data: {}, etag: "", requestId: request.headers["X-Request-Id"] ?? "", next: "", unmodified: false };
  }
  if (request.method !== "PATCH" || status !== 412) return undefined;
  const { body: _, ...read } = request;
  const now = await sent({ ...read, method: "GET", headers: {} });
  const wanted = Object.entries(JSON.parse(String(request.body)));
  const isDone = wanted.every(([name, value]) => JSON.stringify(now.data[name]) === JSON.stringify(value));
  return isDone ? { ...now, requestId: request.headers["X-Request-Id"] ?? "" } : undefined;
}

/** @param {string} etag @returns {number} the version that it names (contract E1) */
export const versionIn = (etag) => Number.parseInt(etag.slice(1), 10);

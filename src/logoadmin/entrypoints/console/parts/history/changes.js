/**
 * The history: read newest first, page by page, with all that one request did as one; and undone.
 *
 * @typedef {{kind?: string | undefined, id?: number | undefined, user_id?: number | undefined, action?: string | undefined,
 *   request_id?: string | undefined, since?: number | undefined, until?: number | undefined}} Filters
 *
 * @typedef {{newest: number, act: Act, change?: undefined} | {newest: number, change: Change, act?: undefined}} Entry What a request did, or one of its changes.
 *
 * @typedef {object} Page
 * @property {Entry[]} entries
 * @property {number} after Where the next page begins, 0 at the last one.
 *
 * @typedef {object} Obstacle
 * @property {"undone" | "since"} why It is undone, or the record was changed since.
 * @property {string} [to] The page of the change that undid it, or that came later; none for what the first start made, which stays.
 */
import { call } from "../../client.js";
import { flat } from "../../presentation.js";
import { isListed, KINDS, readList } from "../../records.js";

/** The actions on records of each kind, as the service names them after the kind. */
export const ACTIONS = /** @type {const} */ ({
  logo: ["created", "amended", "removed", "restored", "linked", "unlinked", "blocked", "unblocked"],
  theme: ["created", "amended", "removed", "restored", "linked", "unlinked", "blocked", "unblocked"],
  author: ["created", "amended", "removed", "restored"],
  user: ["created", "amended", "removed", "restored", "password_set"],
  role: ["created", "amended", "removed", "restored"],
  settings: ["amended"],
  picture: ["removed"],
});

export const PAGE = 50;

/**
 * @param {Filters} filters
 * @param {number} after The page that follows this change; 0 for the first.
 * @param {{size?: number, signal?: AbortSignal}} [more]
 * @returns {Promise<Page>}
 * @throws {Failure}
 */
export async function readPage(filters, after, { size = PAGE, signal } = {}) {
  const query = /** @type {any} */ ({ ...filters, order: "desc", limit: size, ...(after ? { after } : {}) });
  // A request is shown with each of its changes, all else by what each request did.
  const isWhole = filters.request_id === undefined;
  const { data, next } = isWhole ? await call("get", "/api/acts", { query, ...(signal ? { signal } : {}) }) : await read(query, signal);
  const entries = data.map((each) => /** @type {any} */ ({ newest: each.change_id, [isWhole ? "act" : "change"]: each }));
  return { entries, after: next ? (data.at(-1)?.change_id ?? 0) : 0 };
}

/** @param {object} query @param {AbortSignal} [signal] */
export function read(query, signal) {
  return call("get", "/api/changes", { query: /** @type {any} */ (query), ...(signal ? { signal } : {}) });
}

/** @param {number} changeId @param {AbortSignal} [signal] @returns {Promise<Change | undefined>} */
export async function readChange(changeId, signal) {
  const { data } = await read({ after: changeId - 1, limit: 1 }, signal);
  return data.find((each) => each.change_id === changeId);
}

/** @param {{kind: string, id: number | undefined}} record @param {AbortSignal} signal @returns {Promise<Change[]>} its last change */
export async function readLatest({ kind, id }, signal) {
  return (await read({ kind, id, order: "desc", limit: 1 }, signal)).data;
}

/** @param {string} request @param {AbortSignal} signal @returns {Promise<Act | undefined>} what it did */
export async function readAct(request, signal) {
  return (await call("get", "/api/acts", { query: /** @type {any} */ ({ request_id: request, limit: 1 }), signal })).data[0];
}

/** @param {{change_id: number}} change @returns {Promise<Answer>} */
export function undoChange(change) {
  return call("post", "/api/changes/{change_id}/revert", { path: { change_id: change.change_id } });
}

/** @param {string} requestId @returns {Promise<Answer>} */
export function undoRequest(requestId) {
  return call("post", "/api/changes/revert", { body: { request_id: requestId } });
}

/** @param {Act} act @returns {string[]} the kinds of record that it changed */
export const kindsOfAct = ({ actions }) => [...new Set(Object.keys(actions).map((action) => action.split(".")[0] ?? ""))];

/** @param {Act} act @returns {boolean} whether it is one change, or one with the password of the user that it created */
export const isSingle = ({ count, actions }) => count === 1 || (count === 2 && actions["user.created"] === 1 && actions["user.password_set"] === 1);

/** Read again the lists that changes were about. @param {{kind: string}[]} changes */
export function readListsOf(changes) {
  for (const kind of new Set(changes.map((change) => change.kind))) {
    if (isListed(kind)) void readList(kind);
  }
}

/** @param {Change} change @returns {string[]} the fields that are other ones since, in their order, without the id; members of the details by themselves */
export function fieldsOfChange({ kind, before, after }) {
  /** @type {Record<string, any>[]} */
  const [old = {}, now = {}] = [flat(before) ?? {}, flat(after) ?? {}];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  if (isListed(kind)) names.delete(KINDS[kind].id);
  return [...names].filter((name) => JSON.stringify(old[name] ?? "") !== JSON.stringify(now[name] ?? "") && !(isEmpty(old[name]) && isEmpty(now[name])));
}

/** @param {unknown} value */
const isEmpty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

/** @param {Change} change @param {Change[]} known Those that were read, newest first. @returns {Obstacle | undefined} why it cannot be undone, as far as these show */
export function obstacleTo(change, known) {
  if (change.source === "first start") return { why: "since" };
  const later = known.find((each) => each.kind === change.kind && each.id === change.id && each.change_id > change.change_id);
  if (!later || isSame(change.after, later.after)) return undefined;
  const undoing = known.find((each) => each.undoes === change.change_id);
  return { why: undoing ? "undone" : "since", to: `history/${(undoing ?? later).change_id}` };
}

/** @param {Snapshot} one @param {Snapshot} other @returns {boolean} whether they agree in what both have: older ones lack newer fields */
function isSame(one, other) {
  if (!one || !other) return one === other;
  return Object.keys(one).every((name) => !(name in other) || JSON.stringify(one[name]) === JSON.stringify(other[name]));
}

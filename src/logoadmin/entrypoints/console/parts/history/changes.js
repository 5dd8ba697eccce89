/**
 * The history: read newest first, page by page, with all that one request did as one; and undone.
 *
 * @typedef {Record<string, any> | null} Snapshot The record before or after a change, whatever its kind.
 * @typedef {import("logoadmin/api").components["schemas"]["Change"] & {before: Snapshot, after: Snapshot}} Change
 * @typedef {{kind?: string | undefined, id?: number | undefined, user_id?: number | undefined, action?: string | undefined,
 *   request_id?: string | undefined, since?: number | undefined, until?: number | undefined}} Filters
 *
 * @typedef {object} Group What one request did, as far as the filters let it through.
 * @property {number} newest
 * @property {Change[]} changes Newest first; the newest ones alone where there are many.
 * @property {number} count How many there are, whatever the filters, where not all of them are here.
 *
 * @typedef {object} Page
 * @property {Group[]} groups
 * @property {number} after Where the next page begins, 0 at the last one.
 */
import { call } from "../../client.js";
import { KINDS, readList } from "../../records.js";

/** What may become of records of each kind, as the service names it behind the kind. */
export const ACTIONS = /** @type {const} */ ({
  logo: ["created", "amended", "removed", "restored", "linked", "unlinked"],
  theme: ["created", "amended", "removed", "restored", "linked", "unlinked"],
  author: ["created", "amended", "removed", "restored"],
  user: ["created", "amended", "removed", "restored", "password_set"],
  role: ["created", "amended", "removed", "restored"],
});

const PAGE = 50;

/**
 * @param {Filters} filters
 * @param {number} after The page that follows this change; 0 for the first.
 * @param {{size?: number, signal?: AbortSignal}} [more]
 * @returns {Promise<Page>}
 * @throws {import("../../client.js").Failure}
 */
export async function readPage(filters, after, { size = PAGE, signal } = {}) {
  const { data, next } = await read({ ...filters, order: "desc", limit: size, ...(after ? { after } : {}) }, signal);
  const groups = grouped(data, filters.request_id !== undefined);
  const last = data.at(-1);
  if (!next || !last) return { groups, after: 0 };
  const tail = groups.at(-1);
  if (!tail || last.request_id === null || filters.request_id !== undefined) return { groups, after: last.change_id };
  // An import of thousands is one entry of the page: the changes of a request have consecutive ids, so the first one
  // shows their number, and where the next page begins.
  const first = (await read({ request_id: last.request_id, limit: 1 }, signal)).data[0];
  if (!first || first.change_id >= last.change_id) return { groups, after: last.change_id };
  const isFiltered = Object.values(filters).some((value) => value !== undefined);
  const newest = isFiltered ? (await read({ request_id: last.request_id, order: "desc", limit: 1 }, signal)).data[0] : tail.changes[0];
  tail.count = (newest?.change_id ?? tail.newest) - first.change_id + 1;
  return { groups, after: first.change_id };
}

/** @param {object} query @param {AbortSignal} [signal] */
export function read(query, signal) {
  return call("get", "/api/changes", { query: /** @type {any} */ (query), ...(signal ? { signal } : {}) });
}

/** @param {Change[]} changes @param {boolean} apart Whether each change is its own group. @returns {Group[]} */
function grouped(changes, apart) {
  /** @type {Group[]} */
  const groups = [];
  for (const change of changes) {
    const last = groups.at(-1);
    if (!apart && last && change.request_id !== null && last.changes[0]?.request_id === change.request_id) {
      last.changes.push(change);
      last.count += 1;
    } else groups.push({ newest: change.change_id, changes: [change], count: 1 });
  }
  return groups;
}

/** @param {number} changeId @returns {Promise<Change | undefined>} */
export async function readChange(changeId) {
  const { data } = await read({ after: changeId - 1, limit: 1 });
  return data.find((each) => each.change_id === changeId);
}

/** @param {Change} change @returns {Promise<import("../../client.js").Answer<any>>} */
export function undoChange(change) {
  return call("post", "/api/changes/{change_id}/revert", { path: { change_id: change.change_id } });
}

/** @param {string} requestId @returns {Promise<import("../../client.js").Answer<any>>} */
export function undoRequest(requestId) {
  return call("post", "/api/changes/revert", { body: { request_id: requestId } });
}

/** Read again the lists that changes were about. @param {Change[]} changes */
export function readListsOf(changes) {
  for (const kind of new Set(changes.map((change) => change.kind))) {
    if (kind in KINDS) void readList(kind);
  }
}

/** @param {Change} change @returns {string[]} the fields that are other ones since, in their order */
export function fieldsOfChange({ before, after }) {
  /** @type {Record<string, any>[]} */
  const [old = {}, now = {}] = [before ?? {}, after ?? {}];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...names].filter((name) => JSON.stringify(old[name] ?? "") !== JSON.stringify(now[name] ?? "") && !(isEmpty(old[name]) && isEmpty(now[name])));
}

/** @param {unknown} value */
const isEmpty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

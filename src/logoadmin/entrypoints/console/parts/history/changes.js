/**
 * The history: read newest first, page by page, with all that one request did as one; and undone.
 *
 * @typedef {Record<string, any> | null} Snapshot The record before or after a change, whatever its kind.
 * @typedef {import("logoadmin/api").components["schemas"]["Change"] & {before: Snapshot, after: Snapshot}} Change
 * @typedef {import("logoadmin/api").components["schemas"]["Act"]} Act
 * @typedef {{kind?: string | undefined, id?: number | undefined, user_id?: number | undefined, action?: string | undefined,
 *   request_id?: string | undefined, since?: number | undefined, until?: number | undefined}} Filters
 *
 * @typedef {object} Group What one request did, as far as the filters let it through.
 * @property {number} newest
 * @property {Change[]} changes Newest first.
 * @property {number} [whole] How many changes the request made to all records, where these are of one.
 * @property {Act} [act] What the request did, where the service says it; its changes are not here then.
 * @property {Change} [undid] One of the changes that it undid, if it undid all that another request did.
 *
 * @typedef {object} Page
 * @property {Group[]} groups
 * @property {number} after Where the next page begins, 0 at the last one.
 *
 * @typedef {object} Obstacle
 * @property {"undone" | "since"} why It is undone, or the record was changed since.
 * @property {Change} [by] The change that undid it, or that came later; none for what the first start made, which stays.
 * @property {string} [to] The page that says more, where the change is not known.
 */
import { call } from "../../client.js";
import { KINDS, isListed, refreshList } from "../../records.js";

/** What may become of records of each kind, as the service names it behind the kind. */
export const ACTIONS = /** @type {const} */ ({
  logo: ["created", "amended", "removed", "restored", "linked", "unlinked", "blocked", "unblocked", "pins_accepted"],
  theme: ["created", "amended", "removed", "restored", "linked", "unlinked", "blocked", "unblocked", "pins_accepted"],
  author: ["created", "amended", "removed", "restored"],
  user: ["created", "amended", "removed", "restored", "password_set"],
  role: ["created", "amended", "removed", "restored"],
  settings: ["amended"],
  picture: ["removed"],
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
  // A record and a request are shown with each of their changes, all else by what each request did.
  if (filters.id === undefined && filters.request_id === undefined) return readActs(filters, after, size, signal);
  const page = await readGroups(filters, after, size, signal);
  await findUndone(page.groups, signal);
  return page;
}

/** @param {Filters} filters @param {number} after @param {number} size @param {AbortSignal} [signal] @returns {Promise<Page>} */
async function readActs(filters, after, size, signal) {
  const query = /** @type {any} */ ({ ...filters, order: "desc", limit: size, ...(after ? { after } : {}) });
  const { data, next } = await call("get", "/api/acts", { query, ...(signal ? { signal } : {}) });
  const groups = data.map((act) => ({ newest: act.change_id, changes: [], act }));
  return { groups, after: next ? (data.at(-1)?.change_id ?? 0) : 0 };
}

/** @param {Filters} filters @param {number} after @param {number} size @param {AbortSignal | undefined} signal @returns {Promise<Page>} */
async function readGroups(filters, after, size, signal) {
  const { data, next } = await read({ ...filters, order: "desc", limit: size, ...(after ? { after } : {}) }, signal);
  const groups = grouped(data, filters.request_id !== undefined);
  // Changes of one record alone: how many others their requests made.
  if (filters.id !== undefined && data.some((change) => change.origin)) {
    const acts = await readActs(filters, after, size, signal);
    const counts = new Map(acts.groups.map(({ act }) => [act?.request_id, act?.count]));
    for (const group of groups) group.whole = counts.get(group.changes[0]?.request_id) ?? group.changes.length;
  }
  return { groups, after: next ? (data.at(-1)?.change_id ?? 0) : 0 };
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
    if (!apart && last && change.request_id !== null && last.changes[0]?.request_id === change.request_id) last.changes.push(change);
    else groups.push({ newest: change.change_id, changes: [change] });
  }
  return groups;
}

/** Find what requests undid; the sentence of a single change does without. @param {Group[]} groups @param {AbortSignal} [signal] */
async function findUndone(groups, signal) {
  const known = groups.flatMap(({ changes }) => changes);
  const find = async (/** @type {Group} */ group) => {
    const undoes = group.changes.length > 1 ? group.changes[0]?.undoes : undefined;
    const undid = typeof undoes === "number" ? (known.find((each) => each.change_id === undoes) ?? (await readChange(undoes, signal))) : undefined;
    if (undid) group.undid = undid;
  };
  await Promise.all(groups.map(find));
}

/** @param {number} changeId @param {AbortSignal} [signal] @returns {Promise<Change | undefined>} */
export async function readChange(changeId, signal) {
  const { data } = await read({ after: changeId - 1, limit: 1 }, signal);
  return data.find((each) => each.change_id === changeId);
}

/** @param {Change} change @returns {Promise<Change[]>} the last change of its record */
export async function readLatest({ kind, id }) {
  return (await read({ kind, id, order: "desc", limit: 1 })).data;
}

/** @param {string} request @returns {Promise<Act | undefined>} what it did */
export async function readAct(request) {
  return (await readActs({ request_id: request }, 0, 1)).groups[0]?.act;
}

/** @param {{change_id: number}} change @returns {Promise<import("../../client.js").Answer<any>>} */
export function undoChange(change) {
  return call("post", "/api/changes/{change_id}/revert", { path: { change_id: change.change_id } });
}

/** @param {string} requestId @returns {Promise<import("../../client.js").Answer<any>>} */
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
    if (isListed(kind)) void refreshList(kind);
  }
}

/** @param {Change} change @returns {string[]} the fields that are other ones since, in their order, without the id */
export function fieldsOfChange({ kind, before, after }) {
  /** @type {Record<string, any>[]} */
  const [old = {}, now = {}] = [before ?? {}, after ?? {}];
  const names = new Set([...Object.keys(old), ...Object.keys(now)]);
  if (isListed(kind)) names.delete(KINDS[kind].id);
  return [...names].filter((name) => JSON.stringify(old[name] ?? "") !== JSON.stringify(now[name] ?? "") && !(isEmpty(old[name]) && isEmpty(now[name])));
}

/** @param {unknown} value */
const isEmpty = (value) => value === null || value === undefined || value === "" || (Array.isArray(value) && value.length === 0);

/** Changes that were read, and whether they can still be undone, as far as these show. */
export class Known {
  /** Newest first. @type {Map<string, Change[]>} */
  #ofRecord = new Map();
  /** What undid each change, and the newest of what undid each request. @type {Map<number | string, Change>} */
  #undoing = new Map();

  /** @param {Group[]} groups Newest first. @param {Change[]} [others] Further ones that are known. */
  constructor(groups, others = []) {
    const all = [...others, ...groups.flatMap(({ changes }) => changes)].toSorted((a, b) => b.change_id - a.change_id);
    for (const change of all) {
      const key = recordKey(change);
      this.#ofRecord.set(key, [...(this.#ofRecord.get(key) ?? []), change]);
      // What undid it counts only as long as nobody undid that.
      if (typeof change.undoes === "number" && !this.#undoing.has(change.change_id)) this.#undoing.set(change.undoes, change);
    }
    for (const { changes, undid } of groups) {
      const [newest] = changes;
      if (newest?.request_id && undid?.request_id && !this.#undoing.has(newest.request_id)) this.#undoing.set(undid.request_id, newest);
    }
  }

  /**
   * @param {Change[]} changes Newest first; one, or those of a request.
   * @param {string} [request] Whose changes are undone together.
   * @returns {Obstacle | undefined} why they cannot be undone
   */
  obstacle(changes, request) {
    const by = request && this.#undoing.get(request);
    if (by) return { why: "undone", by };
    // If a request changed a record more than once, only the last change counts.
    const last = new Map(changes.toReversed().map((change) => [recordKey(change), change]));
    const found = [...last.values()].map((change) => this.#obstacleTo(change, request));
    const first = found.find((each) => each?.why === "since") ?? found.find((each) => each);
    // What was undone in part can no longer be undone as a whole.
    return first && found.every((each) => each?.why === "undone") ? first : first && { ...first, why: "since" };
  }

  /** @param {Change} change @param {string | undefined} request @returns {Obstacle | undefined} */
  #obstacleTo(change, request) {
    if (change.source === "first start") return { why: "since" };
    const later = this.#ofRecord.get(recordKey(change))?.find((each) => each.change_id > change.change_id && (request === undefined || each.request_id !== request));
    if (!later || isSame(change.after, later.after)) return undefined;
    const undoing = this.#undoing.get(change.change_id);
    return undoing ? { why: "undone", by: undoing } : { why: "since", by: later };
  }
}

/** @param {Change} change */
const recordKey = ({ kind, id }) => `${kind} ${id}`;

/** @param {Snapshot} one @param {Snapshot} other @returns {boolean} whether they agree in what both have: older ones lack newer fields */
function isSame(one, other) {
  if (!one || !other) return one === other;
  return Object.keys(one).every((name) => !(name in other) || JSON.stringify(one[name]) === JSON.stringify(other[name]));
}

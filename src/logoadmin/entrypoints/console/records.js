/**
 * The lists of records: read completely once, revalidated by version, and updated by writes of this page.
 *
 * @typedef {{logo: Schemas["Logo"], theme: Schemas["Theme"], author: Schemas["Author"], user: Schemas["User"],
 *   role: Schemas["Role"]}} Records
 * @typedef {keyof Records} KindName
 */
import { signal } from "./vendor/preact.js";
import { call, Failure, writes } from "./client.js";
import { may, pageConfig } from "./session.js";

/** The paths of each kind, and whether it is public. */
export const KINDS = /** @type {const} */ ({
  logo: { list: "/api/logos", one: "/api/logos/{logo_id}", id: "logo_id", write: "logos:write", anonymous: true },
  theme: { list: "/api/themes", one: "/api/themes/{theme_id}", id: "theme_id", write: "themes:write", anonymous: true },
  author: { list: "/api/authors", one: "/api/authors/{author_id}", id: "author_id", write: "authors:write", anonymous: true },
  user: { list: "/api/users", one: "/api/users/{user_id}", id: "user_id", write: "users:write", anonymous: false },
  role: { list: "/api/roles", one: "/api/roles/{role_id}", id: "role_id", write: "roles:write", anonymous: false },
});

/** @param {KindName} kind @returns {boolean} whether the user may see such records */
export const maySee = (kind) => KINDS[kind].anonymous || may(`${kind}s:read`) || (kind === "user" && pageConfig.access === "open");

/** @param {string} kind @returns {kind is KindName} whether such records are in lists; the settings are not */
export const isListed = (kind) => Object.hasOwn(KINDS, kind);

/**
 * @template {KindName} K
 * @typedef {object} List
 * @property {Records[K][] | undefined} records None until they were read once.
 * @property {Failure | undefined} failure Why they could not be read; the earlier records stay.
 */

/** @typedef {{list: Signal<List<any>>, etag: string, reading?: Promise<any[]>, stop?: AbortController, fresh?: number}} Entry */

/** @returns {Entry} */
const unread = () => ({ list: signal({ records: undefined, failure: undefined }), etag: "" });
const lists = { logo: unread(), theme: unread(), author: unread(), user: unread(), role: unread() };

/**
 * @template {KindName} K
 * @param {K} kind
 * @returns {Signal<List<K>>} the list as it is known, see `readList`
 */
export const listOf = (kind) => lists[kind].list;

/** Records that were read for the first view count as fresh for this many milliseconds. */
const FRESH = 5000;

/** Begin to read a list while the view that will ask for it is still on its way. @param {KindName} kind */
export async function readAhead(kind) {
  await readList(kind);
  const known = lists[kind];
  if (known.etag) known.fresh = Date.now() + FRESH;
}

/** Make the next reads request the records again. @param {KindName[]} kinds */
export function abandonReads(...kinds) {
  for (const known of kinds.map((kind) => lists[kind])) {
    known.stop?.abort();
    delete known.reading;
  }
}

/** Read a list, if a newer version exists. @param {KindName} kind @returns {Promise<any[]>} the records that have disappeared */
export function readList(kind) {
  const known = lists[kind];
  const { fresh = 0 } = known;
  known.fresh = 0;
  if (Date.now() < fresh) return Promise.resolve([]);
  if (known.reading) return known.reading;
  const { signal } = (known.stop = new AbortController());
  const reading = (async () => {
    try {
      const answer = await asked(kind, known.etag, signal);
      const before = known.list.value.records ?? [];
      if (!answer.unmodified) known.list.value = { records: /** @type {any} */ (answer.data), failure: undefined };
      if (answer.unmodified && known.list.value.failure) known.list.value = { ...known.list.value, failure: undefined };
      known.etag = answer.etag;
      return answer.unmodified ? [] : missingOf(kind, before, known.list.value.records ?? []);
    } catch (error) {
      if (signal.aborted) return known.reading ?? [];
      if (!(error instanceof Failure)) throw error;
      known.list.value = { ...known.list.value, failure: error };
      return [];
    } finally {
      if (!signal.aborted) delete known.reading;
    }
  })();
  known.reading = reading;
  return reading;
}

/** The number of retries of a read that overlapped with a write of this page. */
const AGAIN = 2;

/** @param {KindName} kind @param {string} etag @param {AbortSignal} signal @returns {Promise<Answer>} a fresh list */
async function asked(kind, etag, signal) {
  const { list, anonymous } = KINDS[kind];
  for (let left = AGAIN; ; left -= 1) {
    const before = writes;
    const answer = await call("get", list, { query: { versions: true }, anonymous, signal, ...(etag ? { ifNoneMatch: etag } : {}) });
    if (before === writes || left === 0) return answer;
  }
}

/** @param {KindName} kind @param {any[]} before @param {any[]} now */
function missingOf(kind, before, now) {
  const { id } = KINDS[kind];
  const there = new Set(now.map((record) => record[id]));
  return before.filter((record) => !there.has(record[id]));
}

/** Forget all records, since another user signs in. */
export function forgetRecords() {
  trails = {};
  sessionStorage.removeItem(KEPT);
  for (const known of Object.values(lists)) {
    known.list.value = { records: undefined, failure: undefined };
    known.etag = "";
    known.fresh = 0;
  }
}

/**
 * @param {KindName} kind @param {number | undefined} id
 * @param {{signal?: AbortSignal, ifNoneMatch?: string}} [more]
 * @returns {Promise<Answer>} one record
 */
export const readOne = (kind, id, more = {}) => call("get", /** @type {any} */ (KINDS[kind].one), /** @type {any} */ ({ path: { [KINDS[kind].id]: id }, ...more }));

/** @param {any} record As a list has it. @returns {string} what it is, whenever that was made so (contract E6) */
export const contentOf = ({ version: _, changed_at: __, ...fields }) => JSON.stringify(fields);

/**
 * Put a read or written record into its list, in order of ids.
 * @template {KindName} K
 * @param {K} kind @param {Records[K]} record @param {number} version That of the record.
 */
export function upsert(kind, record, version) {
  const id = /** @type {any} */ (record)[KINDS[kind].id];
  const known = lists[kind].list.value.records?.find((each) => each[KINDS[kind].id] === id);
  if (known && contentOf({ ...known, ...record }) === contentOf(known)) return;
  replaceMany(kind, [id], [{ ...record, version, changed_at: Math.floor(Date.now() / 1000) }]);
}

/** Put records that were written together into their list, in place of those of these ids. @param {KindName} kind @param {number[]} ids @param {any[]} records With their versions. */
export function replaceMany(kind, ids, records) {
  const known = lists[kind];
  const { id } = KINDS[kind];
  if (!known.list.value.records) return;
  const gone = new Set(ids);
  const now = [...known.list.value.records.filter((each) => !gone.has(each[id])), ...records].sort((a, b) => a[id] - b[id]);
  known.list.value = { ...known.list.value, records: now };
}

/** @type {Partial<Record<KindName, readonly any[]>>} */
let trails = {};

/** The order in which each list was last shown, in which a record leads to the next and the previous one. @param {KindName} kind @param {readonly any[] | undefined} records as the list shows them */
export function leaveTrail(kind, records) {
  if (records) trails[kind] = records;
}

/** @param {KindName} kind @param {number} id @returns {{at: number, ids: number[]} | undefined} its place in the list, counted from 0; none where the list did not show it */
export function trailOf(kind, id) {
  const ids = (trails[kind] ?? []).map((record) => record[KINDS[kind].id]);
  const at = ids.indexOf(id);
  return at < 0 ? undefined : { at, ids };
}

const KEPT = "logoadmin.recent";
const RECENT = 8;

/** @typedef {{kind: KindName, id: number, name: string}} Opened */

/** The records that were opened last in this tab; the search over everything starts with them. @returns {Opened[]} the last one first */
export const recent = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "[]");

/** @param {Opened} record */
export function opened(record) {
  const others = recent().filter(({ kind, id }) => kind !== record.kind || id !== record.id);
  sessionStorage.setItem(KEPT, JSON.stringify([record, ...others].slice(0, RECENT)));
}

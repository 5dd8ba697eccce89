/** The records of a list, page by page, so that each request is short however long the list is. */
import { call } from "../../client.js";
import { KINDS } from "../../records.js";

/** The most that the service gives at once. */
const PAGE = 1000;

/**
 * @param {import("../../records.js").KindName} kind
 * @param {Record<string, unknown>} filters Those of the interface.
 * @param {AbortSignal} [signal]
 * @returns {AsyncGenerator<any[]>} by ascending id
 */
export async function* pagesOf(kind, filters, signal) {
  const { list, id, anonymous } = KINDS[kind];
  for (let page = filters; ; ) {
    const query = { ...page, limit: PAGE };
    const { data, next } = /** @type {import("../../client.js").Answer<any>} */ (await call("get", /** @type {any} */ (list), /** @type {any} */ ({ anonymous, query, signal })));
    yield data;
    if (!next || data.length === 0) return;
    page = { ...filters, after: data.at(-1)[id] };
  }
}

/**
 * @param {import("../../records.js").KindName} kind
 * @param {number[]} ids
 * @param {{stop?: AbortSignal | undefined, pages?: number}} [more] How many pages are read at most.
 * @returns {Promise<{records: Map<number, any>, isWhole: boolean}>} those that exist, and whether that is known of all
 */
export async function recordsById(kind, ids, { stop, pages = Infinity } = {}) {
  const { id } = KINDS[kind];
  const wanted = new Set(ids);
  const [first, last] = [...wanted].reduce(([least, most], each) => [Math.min(least, each), Math.max(most, each)], [Infinity, -1]);
  const records = new Map();
  if (wanted.size === 0) return { records, isWhole: true };
  let read = 0;
  for await (const page of pagesOf(kind, first > 0 ? { after: first - 1 } : {}, stop)) {
    for (const record of page) if (wanted.has(record[id])) records.set(record[id], record);
    read += 1;
    if (page.length < PAGE || page.at(-1)[id] >= last) return { records, isWhole: true };
    if (read >= pages) return { records, isWhole: false };
  }
  return { records, isWhole: true };
}

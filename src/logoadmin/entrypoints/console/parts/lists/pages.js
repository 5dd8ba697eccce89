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

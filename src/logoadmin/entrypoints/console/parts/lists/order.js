/** The orders of a list, as the address names them; the heads of its table switch between them. */
import { query, setQuery } from "../../router.js";
import { byName, t } from "../../texts.js";

/** By each column: ascending, and descending; the newest come first where the address says nothing. */
const ORDERS = /** @type {const} */ ({ name: ["name", "name-desc"], created_at: ["oldest", ""], changed: ["changed", "changed-desc"], works: ["works", "works-desc"] });
/** The columns by which every list sorts. */
const EVERYWHERE = /** @type {const} */ (["name", "created_at", "changed"]);

/** @param {readonly Sortable[]} [columns] @returns {import("./toolbar.js").Choice} the order of a list */
export const orderChoice = (columns = EVERYWHERE) => ({
  label: t("order"),
  value: query("order"),
  choices: columns.flatMap((each) => ORDERS[each]).map((each) => [each, t(`order.${each || "newest"}`)]),
  pick: (chosen) => setQuery({ order: chosen }),
});

/** @param {string} order @returns {{sort: "id" | "name" | "changed", order: "asc" | "desc"}} as the service names it (contract E4, E5) */
export function serviceOrder(order) {
  const sort = order.startsWith("name") ? "name" : order.startsWith("changed") ? "changed" : "id";
  return { sort, order: order === "" || order.endsWith("-desc") ? "desc" : "asc" };
}

/** @typedef {keyof typeof ORDERS} Sortable */

/** @param {Sortable} column @returns {"ascending" | "descending" | "none"} as `aria-sort` has it */
export function sortOf(column) {
  const at = /** @type {readonly string[]} */ (ORDERS[column]).indexOf(query("order"));
  return at < 0 ? "none" : at === 0 ? "ascending" : "descending";
}

/** Sort by a column, or the other way round. @param {Sortable} column */
export function sortBy(column) {
  const [ascending, descending] = ORDERS[column];
  // The latest are wanted first, and those with the most works.
  const first = column === "name" ? ascending : descending;
  setQuery({ order: sortOf(column) === "none" ? first : query("order") === ascending ? descending : ascending });
}

/**
 * @template T
 * @param {T[]} records
 * @param {{id: string, name: string}} fields Those with its id and its name.
 * @param {string} order As the address names it.
 * @returns {T[]} in this order
 */
export function inOrder(records, { id, name }, order) {
  const column = Object.entries(ORDERS).find(([, names]) => /** @type {readonly string[]} */ (names).includes(order))?.[0];
  /** @type {Record<string, (a: any, b: any) => number>} */
  const ways = {
    name: (a, b) => byName(a[name], b[name]),
    // Many change within a second, and one that is saved here has no version before the list is read again.
    changed: (a, b) => a.changed_at - b.changed_at || a.version - b.version,
    created_at: (a, b) => a.created_at - b.created_at,
    works: (a, b) => a.works - b.works,
  };
  const way = ways[column ?? "created_at"];
  const by = (/** @type {T} */ a, /** @type {T} */ b) => way?.(a, b) || /** @type {any} */ (a)[id] - /** @type {any} */ (b)[id];
  const sorted = records.toSorted(by);
  return order === "" || order.endsWith("-desc") ? sorted.reverse() : sorted;
}

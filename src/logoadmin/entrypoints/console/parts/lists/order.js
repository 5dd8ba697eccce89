/** The orders of a list, as the address names them; the heads of its table switch between them. */
import { query, setQuery } from "../../router.js";
import { byName, t } from "../../texts.js";

/** By each column: ascending, and descending; the newest come first where the address says nothing. */
export const ORDERS = /** @type {const} */ ({ name: ["name", "name-desc"], created_at: ["oldest", ""], changed: ["changed", "changed-desc"], id: ["id", "id-desc"] });

/** Whether only the service knows this order: records do not have the time of their last change. @param {string} order */
export const isOfService = (order) => order.startsWith("changed");

/** Those of lists that are read completely. */
export const OWN_ORDERS = Object.values(ORDERS).flat().filter((each) => !isOfService(each));

/** @param {readonly string[]} orders @returns {import("./toolbar.js").Choice} the order of a list, one of these */
export const orderChoice = (orders) => ({
  label: t("order"),
  value: query("order"),
  choices: orders.map((each) => /** @type {const} */ ([each, t(/** @type {import("../../texts.js").TextKey} */ (`order.${each || "newest"}`))])),
  pick: (chosen) => setQuery({ order: chosen }),
});

/** @param {string} order @returns {{sort: "id" | "name" | "changed", order: "asc" | "desc"}} as the service names it (contract E4, E5) */
export function serviceOrder(order) {
  const sort = order.startsWith("name") ? "name" : isOfService(order) ? "changed" : "id";
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
  // Of times, the latest are wanted first.
  const first = column === "created_at" || column === "changed" ? descending : ascending;
  setQuery({ order: sortOf(column) === "none" ? first : query("order") === ascending ? descending : ascending });
}

/**
 * @template T
 * @param {T[]} records
 * @param {{id: string, name: string}} fields Those with its id and its name.
 * @param {string} order As the address names it.
 * @returns {T[]} in this order; as they are in one of the service
 */
export function inOrder(records, { id, name }, order) {
  if (isOfService(order)) return records;
  const column = Object.entries(ORDERS).find(([, names]) => /** @type {readonly string[]} */ (names).includes(order))?.[0] ?? "created_at";
  const by = (/** @type {any} */ a, /** @type {any} */ b) =>
    column === "name" ? byName(a[name], b[name]) || a[id] - b[id] : column === "id" ? a[id] - b[id] : a.created_at - b.created_at || a[id] - b[id];
  const sorted = records.toSorted(by);
  return order === "" || order.endsWith("-desc") ? sorted.reverse() : sorted;
}

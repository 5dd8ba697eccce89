/** What stands above a list in one line: its search, its filters behind a menu, its order and how it looks; and that order. */
import { h, useId } from "../../vendor/preact.js";
import { query, setQuery } from "../../router.js";
import { byName, t } from "../../texts.js";
import { Icon, IconButton, UNAIDED } from "../primitives/basics.js";
import { Menu } from "../primitives/menu.js";

/**
 * @typedef {object} Choice One of a few, which the address has.
 * @property {string} label
 * @property {string} value
 * @property {readonly (readonly [string, string | readonly (readonly [string, string])[]])[]} choices A list instead of words is a group of that name.
 * @property {(chosen: string) => void} pick
 */

/** @param {{search: any, filters?: Choice[], order?: Choice, children?: any}} props A filter in force stands below the line, with its end. */
export function Toolbar({ search, filters = [], order, children }) {
  const inForce = filters.filter(({ value }) => value);
  return [
    h("div", { key: "line", class: "toolbar" },
      search,
      filters.length > 0 && h("div", { class: "filters" }, h(Menu, { icon: "ListFilter", label: t("filter") }, filters.map((each) => h(Pick, { key: each.label, ...each })))),
      order && h(Pick, order),
      children,
    ),
    inForce.length > 0 && h("ul", { key: "chips", class: "cluster filter-chips", "aria-label": t("filters") }, inForce.map((each) => h(FilterChip, { key: each.label, ...each }))),
  ];
}

/** @param {Choice} props */
function FilterChip({ label, value, choices, pick }) {
  const text = choices.find(([name]) => name === value)?.[1] ?? value;
  return h("li", { class: "filter-chip" },
    h("span", { class: "clip" }, `${label}: `, h("bdi", null, text)),
    h(IconButton, { icon: "X", label: t("filter.end", { label }), onClick: (event) => leave(event, () => pick("")) }),
  );
}

/** The focus goes on to the next filter, or to where filters are chosen. @param {Event} event @param {() => void} end */
function leave({ currentTarget }, end) {
  const own = /** @type {HTMLElement} */ (currentTarget);
  const chip = /** @type {HTMLElement} */ (own.closest("li"));
  const next = (chip.nextElementSibling ?? chip.previousElementSibling)?.querySelector("button");
  (next ?? /** @type {HTMLElement | null} */ (own.closest(".view")?.querySelector(".filters summary")))?.focus();
  end();
}

/** A field that filters during typing; Escape clears it. @param {{value: string, label: string, search: (text: string) => void}} props */
export function Search({ value, label, search }) {
  return h("div", { class: "search" },
    h(Icon, { name: "Search" }),
    h("input", {
      class: "input",
      type: "search",
      value,
      placeholder: label,
      "aria-label": label,
      "aria-keyshortcuts": "/",
      title: t("search.key"),
      maxLength: 128,
      ...UNAIDED,
      onInput: (event) => search(event.currentTarget.value),
      onKeyDown: (event) => {
        if (event.key === "Escape" && value) {
          event.preventDefault();
          search("");
        }
      },
    }),
  );
}

/** One of a few: the label stands before the choice. @param {Choice & {[name: string]: any}} props Others are those of the `select`. */
export function Pick({ label, value, choices, pick, ...others }) {
  const id = useId();
  const known = choices.flatMap(([name, words]) => (typeof words === "string" ? name : words.map(([each]) => each)));
  const option = (/** @type {string} */ name, /** @type {string} */ text) => h("option", { key: name, value: name, dir: "auto" }, text);
  return h("div", { class: "stack tight pick" },
    h("label", { for: id }, label),
    h(
      "select",
      {
        id,
        class: "input",
        value,
        ...others,
        onChange: (/** @type {Event} */ event) => pick(/** @type {HTMLSelectElement} */ (event.currentTarget).value),
      },
      choices.map(([name, words]) => (typeof words === "string" ? option(name, words) : h("optgroup", { key: name, label: name }, words.map(([each, text]) => option(each, text))))),
      // A filter from an old address stays visible although nothing can be filtered by it any more.
      !known.includes(value) && option(value, value),
    ),
  );
}

/** By each column: ascending, and descending; the newest come first where the address says nothing. */
const ORDERS = /** @type {const} */ ({ name: ["name", "name-desc"], created_at: ["oldest", ""], changed: ["changed", "changed-desc"], works: ["works", "works-desc"] });
/** The columns by which every list sorts. */
const EVERYWHERE = /** @type {const} */ (["name", "created_at", "changed"]);

/** The orders of a list, as the address names them; the heads of its table switch between them. @param {readonly Sortable[]} [columns] @returns {Choice} the order of a list */
export const orderChoice = (columns = EVERYWHERE) => ({
  label: t("order"),
  value: query("order"),
  choices: columns.flatMap((each) => ORDERS[each]).map((each) => [each, t(`order.${each || "newest"}`)]),
  pick: (chosen) => setQuery({ order: chosen }),
});

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

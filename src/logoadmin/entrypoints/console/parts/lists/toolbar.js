/** What stands above a list in one line: its search, its filters behind a menu, its order and how it looks. */
import { h } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { IconButton } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";
import { Menu } from "../primitives/menu.js";

/**
 * @typedef {object} Choice One of a few, which the address has.
 * @property {string} label
 * @property {string} value
 * @property {readonly (readonly [string, string])[]} choices
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
    h(IconButton, { icon: "X", label: t("filter.end", { label }), onClick: (/** @type {MouseEvent} */ event) => leave(event, () => pick("")) }),
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
      dir: "auto",
      spellcheck: false,
      autocomplete: "off",
      onInput: (/** @type {InputEvent} */ event) => search(/** @type {HTMLInputElement} */ (event.currentTarget).value),
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key === "Escape" && value) {
          event.preventDefault();
          search("");
        }
      },
    }),
  );
}

/** One of a few: the label stands before what is chosen. @param {Choice & {describedBy?: string, invalid?: boolean}} props */
export function Pick({ label, value, choices, pick, describedBy, invalid }) {
  // A filter from an old address stays visible although nothing can be filtered by it any more.
  const isUnknown = !choices.some(([name]) => name === value);
  return h("label", { class: "stack tight pick" },
    h("span", null, label),
    h(
      "select",
      {
        class: "input",
        value,
        "aria-describedby": describedBy,
        "aria-invalid": invalid,
        onChange: (/** @type {Event} */ event) => pick(/** @type {HTMLSelectElement} */ (event.currentTarget).value),
      },
      [...choices, ...(isUnknown ? [/** @type {const} */ ([value, value])] : [])].map(([name, text]) => h("option", { key: name, value: name, dir: "auto" }, text)),
    ),
  );
}

/** The search and the filters of a list: on a phone the filters are behind one button with their number. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Icon } from "../primitives/icon.js";

/** @param {{search: any, inForce: number, children?: any}} props */
export function Toolbar({ search, inForce, children }) {
  const [isOpen, setOpen] = useState(false);
  return h(
    "div",
    { class: "toolbar" },
    search,
    h(
      "button",
      { type: "button", class: "button plain filters-button", "aria-expanded": isOpen, onClick: () => setOpen(!isOpen) },
      h(Icon, { name: "ListFilter" }),
      inForce > 0 ? t("filters.some", { n: inForce }) : t("filters"),
    ),
    children,
  );
}

/**
 * A field that filters during typing; Escape clears it.
 *
 * @param {{value: string, label: string, search: (text: string) => void}} props
 */
export function Search({ value, label, search }) {
  return h(
    "div",
    { class: "search" },
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

/**
 * One of a few: the label stands before what is chosen.
 *
 * @param {object} props
 * @param {string} props.label
 * @param {string} props.value
 * @param {readonly (readonly [string, string])[]} props.choices
 * @param {(chosen: string) => void} props.pick
 * @param {string} [props.describedBy]
 * @param {boolean} [props.invalid]
 */
export function Pick({ label, value, choices, pick, describedBy, invalid }) {
  // A filter from an old address stays visible although nothing can be filtered by it any more.
  const isUnknown = !choices.some(([name]) => name === value);
  return h(
    "label",
    { class: "stack tight pick" },
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

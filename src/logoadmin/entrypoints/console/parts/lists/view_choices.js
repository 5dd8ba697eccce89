/** How a list looks: its saved views, how close together its rows are, and which columns its table has. */
import { h } from "../../vendor/preact.js";
import { prefer, preferences } from "../../preferences.js";
import { t } from "../../texts.js";
import { DENSITIES, density } from "./density.js";
import { SavedViews } from "./saved_views.js";

/** The columns that may be left out, in their order. */
const COLUMNS = /** @type {const} */ (["preview_url", "target", "authors", "state", "created_at", "changed", "id"]);

/** @typedef {typeof COLUMNS[number]} ColumnName */

/** @returns {ReadonlySet<string>} the columns that the user has left out */
function hiddenColumns() {
  const found = preferences.value["hidden_columns"];
  return new Set(Array.isArray(found) ? found : ["created_at"]);
}

/** @returns {ColumnName[]} the columns of the table, besides the name */
export function shownColumns() {
  const hidden = hiddenColumns();
  return COLUMNS.filter((each) => !hidden.has(each));
}

/** @param {{list: string, hasColumns: boolean}} props */
export function ViewChoices({ list, hasColumns }) {
  const hidden = hiddenColumns();
  const toggle = (/** @type {ColumnName} */ name) =>
    prefer({ hidden_columns: hidden.has(name) ? [...hidden].filter((each) => each !== name) : [...hidden, name] });
  return [
    h(SavedViews, { key: "views", list }),
    h(
      "fieldset",
      { key: "density", class: "menu-part" },
      h("legend", null, t("density")),
      DENSITIES.map((each) =>
        h("label", { key: each }, h("input", { type: "radio", name: "density", checked: density.value === each, onChange: () => prefer({ density: each }) }), t(`density.${each}`)),
      ),
    ),
    hasColumns &&
      h(
        "fieldset",
        { key: "columns", class: "menu-part" },
        h("legend", null, t("list.columns")),
        COLUMNS.map((each) => h("label", { key: each }, h("input", { type: "checkbox", class: "select", checked: !hidden.has(each), onChange: () => toggle(each) }), t(`field.${each}`))),
      ),
  ];
}

/** How many records of each kind. */
import { h } from "../../vendor/preact.js";
import { number, t } from "../../texts.js";

/** @typedef {import("../../texts.js").TextKey} TextKey */

/** @param {{rows: Record<string, Record<string, number>>, columns: [string, string][], label: string}} props Numbers by kind and by column. */
export function CountsTable({ rows, columns, label }) {
  return h(
    "div",
    { class: "box table-frame", role: "region", "aria-label": label, tabIndex: 0 },
    h(
      "table",
      { class: "table targets" },
      h("thead", null, h("tr", null, h("th", { scope: "col" }, t("kind")), columns.map(([name, title]) => h("th", { key: name, scope: "col", class: "number" }, title)))),
      h(
        "tbody",
        null,
        Object.entries(rows).map(([kind, counts]) =>
          h(
            "tr",
            { key: kind },
            h("th", { scope: "row" }, t(/** @type {TextKey} */ (`kinds.${kind}`))),
            columns.map(([name]) => h("td", { key: name, class: "number" }, number(counts[name] ?? 0))),
          ),
        ),
      ),
    ),
  );
}

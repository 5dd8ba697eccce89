/** Records as rows, of which only those in view are in the page. */
import { h, useRef } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { useWindowing } from "./windowing.js";
import { Link, Time } from "../primitives/basics.js";

const ROW = 44;

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} title
 * @property {(record: any) => any} [cell] What is in it; the field of that name where there is none.
 * @property {"number" | "text"} [type]
 */

/**
 * @param {object} props
 * @param {any[]} props.records
 * @param {(record: any) => number} props.id
 * @param {Column[]} props.columns The first one is the name, which leads to the record.
 * @param {string} props.label
 * @param {(record: any) => string} [props.to] The path of the record.
 */
export function Table({ records, id, columns, label, to }) {
  const body = useRef(/** @type {HTMLTableSectionElement | null} */ (null));
  const { first, last } = useWindowing(body, ROW, () => records.length);
  const shown = records.slice(first, Math.max(last, first + 1));
  /** @param {number} rows */
  const space = (rows) =>
    rows > 0 && h("tr", { "aria-hidden": true }, h("td", { colSpan: columns.length, class: "space", style: { height: `${rows * ROW}px` } }));
  return h(
    "div",
    { class: "box table-frame", role: "region", "aria-label": label, tabIndex: 0 },
    h(
      "table",
      { class: "table", "aria-rowcount": records.length + 1 },
      h(
        "thead",
        null,
        h("tr", { "aria-rowindex": 1 }, columns.map(({ name, title, type }) => h("th", { key: name, scope: "col", class: type }, title))),
      ),
      h(
        "tbody",
        { ref: body },
        space(first),
        shown.map((record, at) =>
          h(
            "tr",
            { key: id(record), "aria-rowindex": first + at + 2 },
            columns.map((column, position) => {
              const content = column.cell ? column.cell(record) : plain(column.name, record[column.name]);
              return h(
                "td",
                { key: column.name, class: column.type },
                position === 0 && to ? h(Link, { to: to(record), class: "cell-link" }, content) : content,
              );
            }),
          ),
        ),
        space(records.length - first - shown.length),
      ),
    ),
  );
}

/** @param {string} name @param {unknown} value */
function plain(name, value) {
  if (name.endsWith("_at") && typeof value === "number") return h(Time, { seconds: value });
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  return h("bdi", null, String(value ?? ""));
}

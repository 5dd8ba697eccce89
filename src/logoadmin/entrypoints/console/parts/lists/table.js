/** Records as rows, of which only those in view are in the page. */
import { h, useRef } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { clicked, followRecord, glance, isBeside, useWindowing } from "./rows.js";
import { Icon, Link, Time } from "../primitives/basics.js";
import { sortBy, sortOf } from "./toolbar.js";
import { selectUpTo } from "./selection.js";

/** The height of a row in rem, as in `parts.css`. */
const ROW = 2.75;

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} title
 * @property {(record: any) => any} [cell] What is in it; the field of that name where there is none.
 * @property {"number" | "wide"} [type]
 * @property {import("./toolbar.js").Sortable} [sort] What its head sorts by.
 */

/**
 * @param {object} props
 * @param {any[]} props.records
 * @param {(record: any) => number} props.id
 * @param {Column[]} props.columns The first one is the name, which leads to the record.
 * @param {string} props.label
 * @param {(record: any) => string} [props.to] The path of the record.
 * @param {ListSelection} [props.selection] Where rows can be selected.
 */
export function Table({ records, id, columns, label, to, selection }) {
  const body = useRef(/** @type {HTMLTableSectionElement | null} */ (null));
  const { first, last } = useWindowing(body, ROW, () => records.length);
  const shown = records.slice(first, Math.max(last, first + 1));
  /** @param {number} rows */
  const space = (rows) =>
    rows > 0 && h("tr", { "aria-hidden": true }, h("td", { colSpan: columns.length, class: "space", style: { height: `${rows * ROW}rem` } }));
  return h("div", { class: "box table-frame", role: "region", "aria-label": label, tabIndex: 0 },
    h("table", { class: columns.length > 4 ? "table many" : "table", "aria-rowcount": records.length + 1 },
      h("thead", null, h("tr", { "aria-rowindex": 1 }, columns.map((column) => h(Head, { key: column.name, column })))),
      h("tbody", { ref: body, onKeyDown: (/** @type {KeyboardEvent} */ event) => stepped(event, selection, records, id) },
        space(first),
        shown.map((record, at) =>
          h(
            "tr",
            {
              key: id(record),
              "aria-rowindex": first + at + 2,
              class: selection?.ids.value.has(id(record)) ? "selected" : undefined,
              onClickCapture: (/** @type {MouseEvent} */ event) => event.shiftKey && selection && selectUpTo(event, selection, id(record)),
              "aria-current": isBeside(id(record)) ? "true" : undefined,
              onClick: clicked,
            },
            columns.map((column, position) => {
              const content = column.cell ? column.cell(record) : plain(column.name, record[column.name]);
              return h("td", { key: column.name, class: column.type },
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

/**
 * Up and Down go to the name in the next row, with Shift they select; X on a name selects it, and Space shows it beside.
 *
 * @param {KeyboardEvent} event @param {ListSelection | undefined} selection
 * @param {any[]} records @param {(record: any) => number} id
 */
function stepped(event, selection, records, id) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const row = event.target instanceof Element ? event.target.closest("tr") : null;
  const at = Number(row?.getAttribute("aria-rowindex")) - 2;
  const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  const link = event.target instanceof HTMLAnchorElement && event.target.matches(".cell-link") ? event.target : undefined;
  if (link && event.key === " ") glance(link);
  else if (link && event.code === "KeyX" && selection) selection.toggle(id(records[at]), event.shiftKey);
  else if (by !== undefined && records[at + by]) {
    const next = row?.parentElement?.querySelector(`[aria-rowindex="${at + by + 2}"] .cell-link`);
    if (!(next instanceof HTMLAnchorElement)) return;
    selection?.move(id(records[at]), id(records[at + by]), event.shiftKey);
    next.focus();
    next.scrollIntoView({ block: "nearest" });
    followRecord(() => next);
  } else return;
  event.preventDefault();
}

/** @param {{column: Column}} props */
function Head({ column: { title, type, sort } }) {
  if (!sort) return h("th", { scope: "col", class: type }, title);
  const now = sortOf(sort);
  const icon = now === "none" ? "ArrowUpDown" : now === "ascending" ? "ArrowUp" : "ArrowDown";
  return h("th", { scope: "col", class: type, "aria-sort": now },
    h("button", { type: "button", class: "head-button", onClick: () => sortBy(sort) }, title, h(Icon, { name: icon })),
  );
}

/** @param {string} name @param {unknown} value */
function plain(name, value) {
  if (name.endsWith("_at") && typeof value === "number") return h(Time, { seconds: value });
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  return h("bdi", null, String(value ?? ""));
}

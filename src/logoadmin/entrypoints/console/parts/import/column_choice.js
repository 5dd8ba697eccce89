/** Which field each column of a CSV file has: guessed by name, and changed where the guess is wrong. */
import { h, useEffect, useRef } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { enumeration, t } from "../../texts.js";
import { Pick } from "../lists/toolbar.js";
import { Button } from "../primitives/basics.js";
import { words } from "../primitives/fields.js";
import { CSV_KINDS, fieldInLine, fieldsOf, lacking } from "./csv_records.js";

/** The number of values shown for a column, and the length of each. */
const EXAMPLES = 3;
const LENGTH = 40;

/** @param {{csv: import("./csv_mapping.js").CsvMapping, check: () => void}} props */
export function ColumnChoice({ csv, check }) {
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => heading.current?.focus(), [csv]);
  const { table } = csv;
  const kind = csv.kind.value;
  const missing = lacking(kind, csv.columns.value).map((field) => words(field, "label"));
  const reason = table.rows.length === 0 ? t("import.nothing") : missing.length > 0 ? t("csv.lacking", { names: enumeration(missing) }) : undefined;
  const kinds = CSV_KINDS.filter((each) => may(KINDS[each].write) || each === kind);
  return h(
    "section",
    { class: "stack loose outcome-part" },
    h("h2", { ref: heading, tabIndex: -1 }, t("csv.match")),
    h("p", null, t("csv.about", { n: table.rows.length })),
    h(
      "div",
      null,
      h(Pick, {
        label: t("kind"),
        value: kind,
        choices: kinds.map((each) => /** @type {const} */ ([each, t(`kinds.${each}`)])),
        pick: (chosen) => csv.choose(/** @type {import("./csv_records.js").CsvKind} */ (chosen)),
      }),
    ),
    h(
      "div",
      { class: "box table-frame", role: "region", "aria-label": t("csv.match"), tabIndex: 0 },
      h(
        "table",
        { class: "table" },
        h("thead", null, h("tr", null, [t("csv.column"), t("csv.field"), t("csv.examples")].map((title) => h("th", { key: title, scope: "col" }, title)))),
        h("tbody", null, table.head.map((head, at) => h(Column, { key: at, csv, head, at }))),
      ),
    ),
    h("p", { class: "hint" }, t(kind === "author" ? "csv.keeps" : "csv.keeps.artwork")),
    missing.length > 0 && h("p", { class: "remark", role: "status" }, reason),
    h("div", { class: "cluster form-actions" }, h(Button, { tone: "primary", reason, onClick: check }, t("import.check"))),
  );
}

/** @param {{csv: import("./csv_mapping.js").CsvMapping, head: string, at: number}} props */
function Column({ csv, head, at }) {
  const kind = csv.kind.value;
  const name = head || t("csv.unnamed", { n: at + 1 });
  const values = csv.table.rows.map(({ cells }) => (cells[at] ?? "").trim()).filter(Boolean);
  const examples = [...new Set(values.slice(0, 20))].slice(0, EXAMPLES).map((value) => (value.length > LENGTH ? `${value.slice(0, LENGTH)}…` : value));
  return h(
    "tr",
    null,
    h("th", { scope: "row" }, h("bdi", null, name)),
    h(
      "td",
      null,
      h(
        "select",
        {
          class: "input",
          "aria-label": t("csv.field.of", { head: name }),
          value: csv.columns.value[at],
          onChange: (/** @type {Event} */ event) => csv.assign(at, /** @type {HTMLSelectElement} */ (event.currentTarget).value),
        },
        h("option", { value: "" }, t("csv.skip")),
        fieldsOf(kind).map((field) => h("option", { key: field, value: field }, words(fieldInLine(kind, field), "label"))),
      ),
    ),
    h("td", null, h("ul", { class: "cluster" }, examples.map((example) => h("li", { key: example }, h("bdi", { class: "aside" }, example))))),
  );
}

/** Files to begin with: the columns of each kind, with or without example records, and the same as JSON Lines. */
import { h } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { sayFailure } from "../../notices.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { CSV_KINDS } from "./csv_records.js";

/** Records as an interface would answer them; ids are missing, because the import makes new ones. @type {Record<import("./csv_records.js").CsvKind, any[]>} */
const EXAMPLES = {
  author: [
    { username: "Ann Berg", user_id: 1001 },
    { username: "Ben Okoro", user_id: 1002 },
  ],
  logo: [
    { name: "Winter", target: "forum", active: true, preview_url: "https://example.org/winter.png", authors: [{ username: "Ann Berg" }, { username: "Ben Okoro" }], custom_css: "background: url(https://example.org/winter.png) center / contain no-repeat" },
    { name: "Spring", target: "forum", active: false, preview_url: "https://example.org/spring.png", authors: [], custom_css: "" },
  ],
  theme: [
    { name: "Dusk", target: "forum", active: false, preview_url: "https://example.org/dusk.png", authors: [{ username: "Ben Okoro" }], custom_css: ".header { background: #334 }" },
  ],
};

/** @param {import("./csv_records.js").CsvKind} kind @param {any[]} records */
async function saveCsv(kind, records) {
  const [{ columnsOf }, { csvFile }, { saveFile }] = await Promise.all([import("../csv/columns.js"), import("../csv/csv.js"), import("../csv/save_file.js")]);
  const columns = columnsOf(kind).filter(({ name }) => name !== `${kind}_id` && name !== "created_at");
  const rows = records.map((record) => columns.map(({ cell }) => cell(record)));
  saveFile(csvFile(columns.map(({ title }) => title), rows), `${kind}s-${records.length > 0 ? "example" : "template"}.csv`);
}

async function saveLines() {
  const { saveFile } = await import("../csv/save_file.js");
  const lines = CSV_KINDS.flatMap((kind) => EXAMPLES[kind].map(({ authors, ...record }) => JSON.stringify({ kind, ...record, ...(authors ? { author_ids: [] } : {}) })));
  saveFile(new Blob([lines.join("\n"), "\n"], { type: "application/jsonl" }), "example.jsonl");
}

const lost = () => void sayFailure(new Failure("away"));

export function Templates() {
  return h(
    "details",
    { class: "box matter" },
    h("summary", null, t("templates")),
    h(
      "ul",
      { class: "divided rows" },
      CSV_KINDS.map((kind) =>
        h(
          Row,
          { key: kind, name: `${t(`kinds.${kind}`)} (CSV)` },
          h(Save, { of: t(`kinds.${kind}`), save: () => saveCsv(kind, []) }, t("templates.template")),
          h(Save, { of: t(`kinds.${kind}`), save: () => saveCsv(kind, EXAMPLES[kind]) }, t("templates.example")),
        ),
      ),
      h(Row, { name: "JSON Lines" }, h(Save, { of: "JSON Lines", save: saveLines }, t("templates.example"))),
    ),
    h("p", { class: "hint panel" }, t("templates.about")),
  );
}

/** @param {{name: string, children?: any}} props */
const Row = ({ name, children }) => h("li", { class: "spread row" }, h("p", { class: "stack tight row-text" }, name), h("div", { class: "cluster" }, children));

/** @param {{of: string, save: () => Promise<void>, children?: any}} props */
const Save = ({ of, save, children }) => h(Button, { icon: "Download", onClick: () => void save().catch(lost) }, children, h("span", { class: "hidden" }, ` ${of}`));

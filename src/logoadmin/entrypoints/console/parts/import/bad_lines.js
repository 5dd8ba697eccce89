/** The lines of a file that cannot be imported: which, and what is wrong with each. */
import { h, useState } from "../../vendor/preact.js";
import { wordsOf } from "../../problems.js";
import { number, t } from "../../texts.js";
import { words } from "../primitives/fields.js";

/** @typedef {import("../../client.js").Problem} Problem */
/** @typedef {import("../../texts.js").TextKey} TextKey */

/** The number shown at first. */
const SHOWN = 50;

/** Texts for lines that differ from those for the fields of a form. @type {Record<string, TextKey>} */
const WORDS = {
  bool_type: "line.bool",
  csv_cells: "line.cells",
  csv_charset: "line.charset",
  csv_columns: "line.columns",
  csv_quotes: "line.quotes",
  extra_forbidden: "line.extra",
  json_invalid: "line.json",
  literal_error: "line.kind",
  missing: "line.missing",
  string_type: "line.text",
};

/** @param {Problem} problem @returns {string} */
function inWords(problem) {
  const { loc, msg, type } = problem;
  const field = loc.slice(2).join(" › ");
  const taken = /^Duplicate entry '(.*)' for key/s.exec(msg)?.[1];
  const absent = /^(\w+) (\d+) not found$/.exec(msg);
  const key = WORDS[type];
  let text = key ? t(key, { value: /: (.*)/.exec(msg)?.[1] ?? "" }) : wordsOf(problem);
  if (taken !== undefined) text = t("failure.duplicate", { value: taken });
  else if (absent) text = t("line.absent", { id: String(absent[2]) });
  // Why the line is not valid JSON, or is refused.
  else if (type === "json_invalid" && /UTF|deep/.test(msg)) text = msg;
  if (!field) return text;
  const label = words(field, "label");
  return label === field.replaceAll("_", " ") ? `${field}: ${text}` : `${label} (${field}): ${text}`;
}

/** @param {Problem[]} problems @returns {Map<number, Problem[]>} by line */
export function byLine(problems) {
  /** @type {Map<number, Problem[]>} */
  const lines = new Map();
  for (const problem of problems) {
    const line = Number(problem.loc[1]);
    lines.set(line, [...(lines.get(line) ?? []), problem]);
  }
  return lines;
}

/** @param {{problems: Problem[]}} props */
export function BadLines({ problems }) {
  const [most, setMost] = useState(SHOWN);
  const lines = [...byLine(problems)].sort(([a], [b]) => a - b);
  return h("div", { class: "stack loose" },
    h("ol", { class: "box divided", "aria-label": t("import.bad.list") },
      lines.slice(0, most).map(([line, its]) =>
        h("li", { key: line, class: "bad-line" },
          h("strong", null, t("import.line", { n: line })),
          h("div", { class: "stack tight" }, its.map((problem, at) => h("p", { key: at, class: "problem", dir: "auto" }, inWords(problem)))),
        ),
      ),
    ),
    lines.length > most && h("button", { type: "button", class: "button plain", onClick: () => setMost(most * 4) }, t("import.bad.more", { n: lines.length - most, all: number(lines.length) })),
  );
}

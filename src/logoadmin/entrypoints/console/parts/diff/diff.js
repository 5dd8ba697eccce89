/** The differences between two texts, line by line. */
import { diffArrays } from "../../vendor/diff.js";
import { h, useMemo, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { lineDiff } from "./line_diff.js";

/** @typedef {import("./line_diff.js").Run} Run */

/** The number of unchanged lines shown around each change. */
const CONTEXT = 3;
/** The number of lines shown at first, so that what follows is not lost behind a long text; and then, which keeps the page quick. */
const FIRST_LINES = 40;
const MORE_LINES = 4000;
const SIGNS = /** @type {const} */ ({ same: " ", removed: "−", added: "+" });

/** The lines of two texts in one column: what went, what came, and a little of what stayed. @param {{before: string, after: string, label: string, isBoxed?: boolean}} props `isBoxed`: a long one scrolls in a box. */
export function Diff({ before, after, label, isBoxed = false }) {
  const runs = useMemo(() => lineDiff(before, after), [before, after]);
  const [most, setMost] = useState(FIRST_LINES);
  if (runs.every((run) => run.kind === "same")) return h("p", { class: "hint" }, t("diff.same"));
  const rows = shortened(runs);
  const left = rows.length - most;
  // What scrolls must be reachable by keyboard (WCAG 2.1.1).
  return h("div", { class: isBoxed ? "box diff boxed" : "box diff", ...(isBoxed && { role: "group", "aria-label": label, tabIndex: 0 }) },
    h("table", { class: "diff-lines", "aria-label": label },
      h("thead", { class: "hidden" },
        h("tr", null, h("th", { scope: "col" }, t("diff.before")), h("th", { scope: "col" }, t("diff.after")), h("th", { scope: "col" }, t("diff.line"))),
      ),
      h("tbody", null, rows.slice(0, most).map(row)),
    ),
    left > 0 && h("button", { type: "button", class: "button plain", onClick: () => setMost(most + MORE_LINES) }, t("diff.more", { n: left })),
  );
}

/**
 * @typedef {object} Row
 * @property {Run["kind"] | "left"} kind A gap has a count.
 * @property {string} text
 * @property {string} [other] The line that came in its place, or in whose place it came.
 * @property {number} before
 * @property {number} after
 * @property {number} count
 */

/** @param {Run[]} runs @returns {Row[]} without the middle of what stayed */
function shortened(runs) {
  return runs.flatMap((run, at) => {
    const { kind, lines, before, after } = run;
    const beside = kind === "removed" ? runs[at + 1] : kind === "added" ? runs[at - 1] : undefined;
    // Where lines replaced others, each is compared with the one in its place.
    const others = beside && beside.kind !== "same" ? beside.lines : [];
    const rows = lines.map((text, n) => ({
      kind,
      text,
      ...(others[n] === undefined ? {} : { other: others[n] }),
      before: kind === "added" ? 0 : before + n,
      after: kind === "removed" ? 0 : after + n,
      count: 1,
    }));
    const head = at === 0 ? 0 : CONTEXT;
    const tail = at === runs.length - 1 ? 0 : CONTEXT;
    const count = rows.length - head - tail;
    if (kind !== "same" || count < 2) return rows;
    const left = /** @type {Row} */ ({ kind: "left", text: "", before: 0, after: 0, count });
    return [...rows.slice(0, head), left, ...rows.slice(rows.length - tail)];
  });
}

/** @param {Row} row @param {number} at */
function row({ kind, text, other, before, after, count }, at) {
  if (kind === "left") return h("tr", { key: at, class: "diff-left" }, h("td", { colSpan: 3 }, t("diff.left", { n: count })));
  const tag = kind === "removed" ? "del" : kind === "added" ? "ins" : "span";
  return h("tr", { key: at, class: `diff-${kind}` },
    h("td", { class: "diff-number" }, before || ""),
    h("td", { class: "diff-number" }, after || ""),
    h("td", { class: "diff-text" },
      h("span", { class: "diff-sign", "aria-hidden": true }, SIGNS[kind]),
      // Colour alone says it to nobody who does not see it, and `ins` is often not read aloud.
      kind !== "same" && h("span", { class: "hidden" }, `${t(kind === "added" ? "diff.added" : "diff.removed")} `),
      h(tag, { dir: "auto" }, other === undefined ? text : marked(kind, text, other)),
    ),
  );
}

/** @param {"removed" | "added" | "same"} kind @param {string} text @param {string} other @returns {any} the line, with what changed in it marked */
function marked(kind, text, other) {
  const found = kind === "removed" ? wordDiff(text, other)?.removed : wordDiff(other, text)?.added;
  return found?.map(({ text: part, isChanged }, at) => (isChanged ? h("mark", { key: at, class: "diff-word" }, part) : part)) ?? text;
}

/** The longest lines that are compared, and the most words of them that differ. */
const LONGEST = 2000;
const MOST_CHANGES = 200;

/** @typedef {{text: string, isChanged: boolean}} Part */

/** What changed within a line, word by word. @param {string} before @param {string} after @returns {{removed: Part[], added: Part[]} | undefined} the parts of both; nothing where most of it changed */
export function wordDiff(before, after) {
  if (before.length + after.length > LONGEST) return undefined;
  const changes = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: MOST_CHANGES });
  if (!changes) return undefined;
  const parts = changes.map(({ added, removed, value }) => ({ text: value.join(""), added, removed }));
  const stayed = parts.filter(({ added, removed }) => !added && !removed).reduce((sum, { text }) => sum + text.trim().length, 0);
  if (stayed * 2 < Math.min(before.length, after.length)) return undefined;
  const of = (/** @type {"added" | "removed"} */ kind) => {
    const other = kind === "added" ? "removed" : "added";
    return parts.filter((part) => !part[other]).map((part) => ({ text: part.text, isChanged: part[kind] }));
  };
  return { removed: of("removed"), added: of("added") };
}

/** @param {string} text @returns {string[]} its words, numbers and other characters, one by one */
const wordsOf = (text) => text.match(/[\p{L}\p{N}_-]+|\s+|./gsu) ?? [];

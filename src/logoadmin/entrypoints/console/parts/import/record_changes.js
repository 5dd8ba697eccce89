/** A checked import, record by record: what is new, what would change, and how. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";
import { nameOf } from "../../presentation.js";
import { readList } from "../../records.js";
import { enumeration, number, t } from "../../texts.js";
import { ChangeDiff } from "../history/change_diff.js";
import { fieldsOfChange } from "../history/changes.js";
import { Button, Skeleton, Unread } from "../primitives/basics.js";
import { words } from "../primitives/fields.js";
import { Pick } from "../lists/toolbar.js";
import { comparedLines, MOST_COMPARED } from "./compared.js";

/** @typedef {import("./compared.js").Compared} Compared */
/** @typedef {import("./importing.js").Counts} Counts */

const SHOWN = 50;
const OUTCOMES = /** @type {const} */ (["created", "amended", "unchanged"]);

/** @param {{lines: Blob, counts: Counts}} props */
export function RecordChanges({ lines, counts }) {
  const { found, failure, again } = useCompared(lines);
  const [outcome, setOutcome] = useState("");
  const [most, setMost] = useState(SHOWN);
  if (lines.size > MOST_COMPARED) return h("p", { class: "hint" }, t("ahead.large"));
  if (!found) return failure ? h(Unread, { failure, again }) : h(Skeleton, {});
  const { compared, hidden } = found;
  const numbers = OUTCOMES.map((each) => /** @type {const} */ ([each, compared.filter((one) => one.outcome === each).length]));
  const shown = compared.filter((each) => (outcome ? each.outcome === outcome : each.outcome !== "unchanged"));
  const isOther = hidden.length === 0 && numbers.some(([name, n]) => n !== Object.values(counts).reduce((sum, each) => sum + each[name], 0));
  return h(
    "section",
    { class: "stack loose outcome-part", "aria-label": t("ahead.title") },
    h("h3", null, t("ahead.title")),
    h("p", { class: "hint" }, t("ahead.about")),
    hidden.length > 0 && h("p", { class: "remark" }, t("ahead.hidden", { kinds: enumeration(hidden.map((kind) => t(`kinds.${kind}`))) })),
    isOther && h("p", { class: "remark" }, t("ahead.other")),
    h(
      "div",
      null,
      h(Pick, {
        label: t("ahead.show"),
        value: outcome,
        choices: [["", t("ahead.changes")], ...numbers.map(([name, n]) => /** @type {const} */ ([name, `${t(`import.${name}`)}: ${number(n)}`]))],
        pick: (chosen) => {
          setOutcome(chosen);
          setMost(SHOWN);
        },
      }),
    ),
    shown.length === 0 && h("p", { class: "hint" }, t("ahead.none")),
    shown.length > 0 && h("ul", { class: "box divided", "aria-label": t("ahead.title") }, shown.slice(0, most).map((each) => h(Entry, { key: each.line, its: each }))),
    shown.length > most && h("div", null, h(Button, { onClick: () => setMost(most + SHOWN) }, t("ahead.more", { n: Math.min(SHOWN, shown.length - most), all: number(shown.length - most) }))),
  );
}

/** @param {Blob} lines */
function useCompared(lines) {
  const [found, setFound] = useState(/** @type {Awaited<ReturnType<typeof comparedLines>> | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const [tries, setTries] = useState(0);
  useEffect(() => {
    if (lines.size > MOST_COMPARED) return;
    const stop = new AbortController();
    // The differences name authors.
    void readList("author");
    comparedLines(lines, stop.signal).then(setFound, (error) => {
      if (stop.signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    });
    return () => stop.abort();
  }, [lines, returned.value, tries]);
  return { found, failure, again: () => setTries(tries + 1) };
}

/** @param {{its: Compared}} props */
function Entry({ its }) {
  const { line, kind, outcome, before, after } = its;
  const [isOpen, setOpen] = useState(false);
  const change = /** @type {import("../history/changes.js").Change} */ (/** @type {unknown} */ ({ kind, before, after }));
  const fields = outcome === "amended" ? enumeration(fieldsOfChange(change).map((field) => words(field, "label"))) : "";
  return h(
    "li",
    { class: "record-change" },
    h(
      "details",
      { onToggle: (/** @type {Event} */ event) => setOpen(/** @type {HTMLDetailsElement} */ (event.currentTarget).open) },
      h(
        "summary",
        null,
        h("strong", null, h("bdi", null, nameOf(kind, after))),
        " ",
        h("span", { class: "aside" }, [t(`ahead.${outcome}`), t(`${kind}.title`), t("import.line", { n: line }), fields].filter(Boolean).join(" · ")),
      ),
      isOpen && (outcome === "unchanged" ? h("p", { class: "hint" }, t("ahead.same")) : h(ChangeDiff, { change })),
    ),
  );
}

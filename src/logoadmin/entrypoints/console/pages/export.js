/** Exporting: the records of some kinds into a file, as they are at one moment. */
import { h, useEffect, useRef, useState } from "../vendor/preact.js";
import { Failure, opened, returned } from "../client.js";
import { saveFile, today } from "../parts/primitives/save_file.js";
import { counting } from "../parts/import/file_lines.js";
import { say } from "../notices.js";
import { listOf, readList } from "../records.js";
import { may } from "../session.js";
import { number, t } from "../texts.js";
import { Pick } from "../parts/lists/toolbar.js";
import { Button, Link, ViewHead, rich } from "../parts/primitives/basics.js";
import { useFailure } from "../parts/primitives/countdown.js";
import { CSV_KINDS } from "../parts/import/file_kind.js";
import { CountsTable } from "../parts/import/counts_table.js";

/** @typedef {import("../records.js").KindName} KindName */

/** @type {Partial<Record<KindName, string>>} What one must hold to see them. */
const SCOPES = { user: "users:read", role: "roles:read" };
const ALL = /** @type {KindName[]} */ (["role", "user", "author", "theme", "logo"]);

/** @param {KindName} kind */
const isOpen = (kind) => !SCOPES[kind] || may(SCOPES[kind]);

export default function Export() {
  const [chosen, setChosen] = useState(() => new Set(ALL.filter(isOpen)));
  const [csv, setCsv] = useState("");
  const { state, start, stop } = useDownload();
  useEffect(() => ALL.filter(isOpen).forEach((kind) => void readList(kind)), [returned.value]);
  const kinds = ALL.filter((kind) => chosen.has(kind) && isOpen(kind));
  /** @param {KindName} kind @param {boolean} isChosen */
  const choose = (kind, isChosen) => {
    const next = new Set(chosen);
    if (isChosen) next.add(kind);
    else next.delete(kind);
    setChosen(next);
  };
  const isBusy = state.is === "running";
  const reason = kinds.length === 0 && !csv ? t("export.none") : undefined;
  return h(
    "div",
    { class: "view narrow" },
    h(ViewHead, { title: t("export.title") }),
    h("p", { class: "lead" }, t("export.about"), " ", h(Link, { to: "import" }, t("export.back"))),
    h("div", null, h(Pick, { label: t("export.format"), value: csv, choices: [["", "JSON Lines"], ...CSV_KINDS.map((kind) => /** @type {const} */ ([kind, t("export.csv", { kind: t(`kinds.${kind}`) })]))], pick: setCsv })),
    !csv &&
      h(
        "fieldset",
        { class: "stack tight choices" },
        h("legend", { class: "label" }, t("export.kinds")),
        ALL.map((kind) => h(Kind, { key: kind, kind, isChosen: kinds.includes(kind), choose })),
      ),
    h("p", { class: "hint" }, t(csv ? "export.formulas" : "export.hashes")),
    may("*") && h("p", { class: "hint" }, rich("export.backup", { command: h("code", { class: "mono" }, "logoadmin backup") })),
    h(
      "div",
      { class: "cluster form-actions" },
      h(Button, { tone: "primary", icon: "Download", busy: isBusy, reason, onClick: () => void (csv ? start([/** @type {KindName} */ (csv)], "csv") : start(kinds, "jsonl")) }, t(isBusy ? "export.running" : "export.do")),
      isBusy && h(Button, { onClick: stop }, t("import.stop")),
    ),
    h(
      "div",
      { "aria-live": "polite", class: "outcome" },
      state.is === "failed" && h("p", { class: "complaint", role: "alert" }, state.failure ? h(Refused, { failure: state.failure }) : t("export.broken")),
      state.is === "done" && !state.counts && h("p", { class: "success" }, t("export.saved")),
      state.counts && h(CountsTable, { rows: rowsOf(state.counts), columns: [["n", t("export.count")]], label: t("export.counts") }),
    ),
  );
}

/** @param {{failure: Failure}} props */
const Refused = ({ failure }) => useFailure(failure).words;

/** @param {Record<string, number>} counts */
const rowsOf = (counts) => Object.fromEntries(Object.entries(counts).map(([kind, n]) => [kind, { n }]));

/** @param {{kind: KindName, isChosen: boolean, choose: (kind: KindName, isChosen: boolean) => void}} props */
function Kind({ kind, isChosen, choose }) {
  const { records } = listOf(kind).value;
  const reason = isOpen(kind) ? undefined : t("needsScope", { scope: SCOPES[kind] ?? "" });
  return h(
    "label",
    { class: "choice-row" },
    h("input", { type: "checkbox", checked: isChosen, disabled: Boolean(reason), onChange: (/** @type {Event} */ event) => choose(kind, /** @type {HTMLInputElement} */ (event.currentTarget).checked) }),
    h("span", null, t(`kinds.${kind}`)),
    h("span", { class: "aside" }, reason ?? (records ? number(records.length) : "")),
  );
}

/** @typedef {{is: "idle" | "running" | "done" | "failed", counts?: Record<string, number>, failure?: Failure}} State */

function useDownload() {
  const [state, setState] = useState(/** @type {State} */ ({ is: "idle" }));
  const stop = useRef(/** @type {AbortController | undefined} */ (undefined));
  useEffect(() => () => stop.current?.abort(), []);
  /** @param {KindName[]} kinds @param {"jsonl" | "csv"} format */
  const start = async (kinds, format) => {
    const { signal } = (stop.current = new AbortController());
    try {
      const target = await chosenTarget(`${format === "csv" ? `${kinds[0]}s` : "logoadmin"}-${today()}.${format}`);
      if (!target) return;
      setState({ is: "running" });
      const body = /** @type {ReadableStream<Uint8Array>} */ ((await opened("/api/export", { kind: kinds, format }, signal)).body);
      if (format === "csv") {
        await target(body, signal);
        return setState({ is: "done" });
      }
      let counts = /** @type {Record<string, number>} */ ({});
      const counted = counting((found) => setState({ is: "running", counts: (counts = found) }));
      await target(body.pipeThrough(/** @type {any} */ (counted)), signal);
      setState({ is: "done", counts });
      say(t("export.done", { n: Object.values(counts).reduce((sum, n) => sum + Number(n), 0) }));
    } catch (error) {
      if (signal.aborted) setState({ is: "idle" });
      // A truncated file looks complete, so the failure must be reported.
      else setState({ is: "failed", ...(error instanceof Failure ? { failure: error } : {}) });
    }
  };
  return { state, start, stop: () => stop.current?.abort() };
}

/**
 * Ask where to, in browsers that can write as it comes; in others the browser keeps it until it is whole.
 * @param {string} name
 * @returns {Promise<((body: ReadableStream<Uint8Array>, signal: AbortSignal) => Promise<void>) | undefined>} none if the person would not
 */
async function chosenTarget(name) {
  const pick = /** @type {any} */ (window).showSaveFilePicker;
  /** @param {ReadableStream<Uint8Array>} body */
  const download = async (body) => saveFile(await new Response(body).blob(), name);
  if (!pick) return download;
  try {
    const file = await pick({ suggestedName: name });
    return async (body, signal) => body.pipeTo(await file.createWritable(), { signal });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") return undefined;
    return download;
  }
}

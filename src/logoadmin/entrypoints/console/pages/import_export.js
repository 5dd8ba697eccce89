/** Records from a file, tried first, then all of it or nothing, and undone; and records into a file. */
import { h, useEffect, useMemo, useRef, useState } from "../vendor/preact.js";
import { Failure, opened } from "../client.js";
import { FileButton, saveFile, size, today, useGivenFiles } from "../parts/primitives/files.js";
import { may } from "../session.js";
import { number, t } from "../texts.js";
import { Pick } from "../parts/lists/toolbar.js";
import { Breadcrumbs, Button, Counted, Icon, Link, rich, useFailure, ViewHead } from "../parts/primitives/basics.js";
import { CSV_KINDS, ENCODINGS, Import, openKinds, touched } from "../parts/import/importing.js";
import { KINDS, maySee } from "../records.js";
import { wordsOf } from "../form.js";
import { guard } from "../router.js";
import { UndoAll, useUndo } from "../parts/history/change_list.js";
import { useLeft } from "../parts/primitives/hooks.js";
import { words } from "../parts/primitives/fields.js";

export default function ImportExport() {
  return h("div", { class: "view narrow import" },
    h(Breadcrumbs, { list: "settings", title: t("settings.title"), name: t("move.title") }),
    h(ViewHead, { title: t("move.title") }),
    h("section", { class: "section stack loose" }, h("h2", null, t("import.title")), h(ImportFile, {})),
    h("section", { class: "section stack loose" }, h("h2", null, t("export.title")), h(Export, {})),
  );
}

function Export() {
  const [csv, setCsv] = useState("");
  const { state, start, stop } = useDownload();
  const isBusy = state.is === "running";
  const kinds = /** @type {KindName[]} */ (csv ? [csv] : Object.keys(KINDS).filter((kind) => maySee(/** @type {KindName} */ (kind))));
  return [
    h("div", { key: "format" }, h(Pick, { label: t("export.format"), value: csv, choices: [["", t("export.lines")], ...CSV_KINDS.map((kind) => /** @type {const} */ ([kind, t("export.csv", { kind: t(`${kind}s.title`) })]))], pick: setCsv })),
    h("p", { key: "about", class: "hint" }, t(csv ? "export.formulas" : "export.hashes"), !csv && may("*") && [" ", rich("export.backup", { command: h("code", { class: "mono" }, "logoadmin backup") })]),
    h("div", { key: "do", class: "cluster form-actions" },
      h(Button, { icon: "Download", busy: isBusy, onClick: () => void start(kinds, csv ? "csv" : "jsonl") }, t(isBusy ? "export.running" : "file.download")),
      isBusy && h(Button, { onClick: stop }, t("import.stop")),
    ),
    h("div", { key: "outcome", "aria-live": "polite" },
      state.is === "failed" && h("p", { class: "complaint", role: "alert" }, state.failure ? h(NotExported, { failure: state.failure }) : t("export.broken")),
      state.is === "done" && h("p", { class: "success" }, t("export.saved")),
    ),
  ];
}

/** @param {{failure: Failure}} props */
const NotExported = ({ failure }) => useFailure(failure).words;

/** @typedef {{is: "idle" | "running" | "done" | "failed", failure?: Failure}} State */

function useDownload() {
  const [state, setState] = useState(/** @type {State} */ ({ is: "idle" }));
  const stop = useRef(/** @type {AbortController | undefined} */ (undefined));
  useEffect(() => () => stop.current?.abort(), []);
  /** @param {KindName[]} kind @param {"jsonl" | "csv"} format */
  const start = async (kind, format) => {
    const { signal } = (stop.current = new AbortController());
    try {
      const target = await chosenTarget(`${format === "csv" ? `${kind[0]}s` : "logoadmin"}-${today()}.${format}`);
      if (!target) return;
      setState({ is: "running" });
      await target(/** @type {ReadableStream<Uint8Array>} */ ((await opened("/api/export", { kind, format }, signal)).body), signal);
      setState({ is: "done" });
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

function ImportFile() {
  const work = useMemo(() => new Import(), []);
  const source = work.source.value;
  const state = work.state.value;
  useEffect(() => guard(() => work.state.peek().is === "sending"), []);
  useEffect(() => () => work.leave(), []);
  if (!Object.values(KINDS).some(({ write }) => may(write))) return h("p", { class: "remark" }, t("import.mayNothing"));
  const isBusy = state.is === "sending";
  return [
    h("p", { key: "about", class: "hint" }, t("import.about")),
    h(FileChoice, { key: "choice", choose: (file) => void work.choose(file), again: source !== undefined, disabled: isBusy }),
    source && h("p", { key: "name", class: "file-name" }, h("bdi", null, source.name), h("span", { class: "aside" }, size(source.file.size))),
    source?.csv && !["done", "undone"].includes(state.is) && h(CsvChoice, { key: "csv", work, file: source.file, csv: source.csv, disabled: isBusy, isChecked: state.is === "ready" }),
    h("div", { key: "outcome", class: "outcome", "aria-live": "polite" }, h(Outcome, { work })),
  ];
}

/** @type {Record<string, (props: any) => any>} By the state of the import. */
const OUTCOMES = { sending: Sending, refused: Refused, bad: Bad, ready: Ready, done: Done, undone: () => h("p", { class: "success" }, t("import.undone")) };

/** The result so far, and the next steps. @param {{work: Import}} props */
function Outcome({ work }) {
  const state = work.state.value;
  const View = OUTCOMES[state.is];
  return View ? h(View, { work, ...state }) : null;
}

/** @param {{work: Import, words: string, until: number, lasts: boolean, counted: (left: number) => string}} props */
function Refused({ work, words, until, lasts, counted }) {
  const left = useLeft(until);
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  // On a phone, the first rows fill the view.
  useEffect(() => element.current?.scrollIntoView({ block: "nearest" }), [words]);
  return h("div", { class: "stack loose outcome-part", ref: element },
    h("p", { class: "complaint", role: "alert", dir: "auto" }, h(Counted, { text: words, until, left, words: counted })),
    work.source.value && !lasts && h("div", null, h(Button, { idle: left > 0, onClick: () => void work.send(true) }, t("tryAgain"))),
  );
}

/** @param {{work: Import, dry: boolean, sent: number, whole: number}} props */
function Sending({ work, dry, sent, whole }) {
  const isSent = sent >= whole;
  const done = whole ? Math.floor((100 * sent) / whole) : 100;
  return h("div", { class: "stack loose outcome-part" },
    h("label", { for: "sending" }, isSent ? t(dry ? "import.checking" : "import.storing") : t("import.sending", { percent: number(done) })),
    h("progress", { id: "sending", class: "progress", max: 100, value: done }),
    // Once the file is sent completely, the import can no longer be cancelled safely.
    (dry || !isSent) && h("div", null, h(Button, { onClick: () => work.stop() }, t("import.stop"))),
  );
}

/** @param {{problems: Problem[]}} props */
function Bad({ problems }) {
  return h("section", { class: "stack loose outcome-part" },
    h("h3", null, t("import.bad", { n: byLine(problems).size })),
    h("p", null, t("import.bad.file")),
    h(BadLines, { problems }),
  );
}

/** The result for each kind, of a dry run or of an import. @param {{counts: import("../parts/import/importing.js").Counts, label: string}} props */
const Numbers = ({ counts, label }) =>
  h("ul", { class: "box divided", "aria-label": label },
    present(counts).map(([kind, { created, amended, unchanged }]) => h("li", { key: kind, class: "row" }, t("import.numbers", { kind: t(`${kind}s.title`), created, amended, unchanged }))),
  );

/** @param {import("../parts/import/importing.js").Counts} counts @returns {[KindName, import("../parts/import/importing.js").Counts[string]][]} */
const present = (counts) => /** @type {any} */ (Object.entries(counts).filter(([, { created, amended, unchanged }]) => created + amended + unchanged > 0));

/** @param {{work: Import, counts: import("../parts/import/importing.js").Counts}} props */
function Ready({ work, counts }) {
  const n = touched(counts);
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  const reason = n === 0 ? t("import.same") : undefined;
  return h("section", { class: "stack loose outcome-part" },
    h("h3", { ref: heading, tabIndex: -1 }, n ? t("import.ready", { n }) : t("import.same")),
    h(Numbers, { counts, label: t("import.would") }),
    n > 0 && h("p", { class: "hint" }, t("import.whole")),
    Number(counts.user?.created) > 0 && h("p", { class: "remark" }, t("import.passwords")),
    h("div", { class: "cluster form-actions" }, h(Button, { tone: "primary", icon: "Upload", reason, onClick: () => void work.send(false) }, t("import.do", { n }))),
  );
}

/** @param {{work: Import, counts: import("../parts/import/importing.js").Counts, requestId: string}} props */
function Done({ work, counts, requestId }) {
  const { busy, complaint, undo } = useUndo(() => work.undone(counts));
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  const kinds = present(counts).map(([kind]) => ({ kind }));
  return h("section", { class: "stack loose outcome-part" },
    h("h3", { ref: heading, tabIndex: -1, class: "success" }, t("import.done", { n: touched(counts) })),
    h(Numbers, { counts, label: t("import.did") }),
    Number(counts.user?.created) > 0 && h("p", { class: "remark" }, t("import.passwords")),
    h("div", { class: "cluster form-actions" },
      h(UndoAll, { request: requestId, changes: kinds, count: touched(counts), busy, undo }),
      may("changes:read") && h(Link, { to: `history?request=${encodeURIComponent(requestId)}`, class: "button quiet" }, t("import.history")),
    ),
    complaint,
  );
}

/** The place where a file is chosen or dropped. @param {{choose: (file: File) => void, again: boolean, disabled: boolean}} props */
function FileChoice({ choose, again, disabled }) {
  const place = useRef(/** @type {HTMLDivElement | null} */ (null));
  useGivenFiles(place, { within: ".field", accepts: () => true, pasted: () => undefined, take: disabled ? undefined : choose });
  return h("div", { ref: place, class: "field drop" },
    !again && h(Icon, { name: "Upload" }),
    h(FileButton, { accept: ".jsonl,.ndjson,.json,.txt,.csv,.tsv", tone: again ? "plain" : "primary", icon: undefined, idle: disabled, take: choose }, t(again ? "import.other" : "keep.choose")),
    h("span", { class: "hint" }, t("import.drop")),
    h("span", { class: "hint" }, t("import.sizes")),
  );
}

/** The preview: at most this many bytes and lines of the file. */
const BEGINNING = 1024;
const ROWS = 5;

/** How a CSV file is to be read: what its records are, and its encoding, with its first rows to judge it by. @param {{work: import("../parts/import/importing.js").Import, file: Blob, csv: import("../parts/import/importing.js").Csv, disabled: boolean, isChecked: boolean}} props */
function CsvChoice({ work, file, csv, disabled, isChecked }) {
  const { kind, encoding } = csv;
  const kinds = CSV_KINDS.filter((each) => each === kind || openKinds().includes(each));
  const rows = useBeginning(file, encoding);
  return h("section", { class: "stack loose", "aria-label": t("import.csv") },
    h("div", { class: "cluster" },
      h(Pick, { label: t("import.csv.kind"), value: kind, choices: kinds.map((each) => /** @type {const} */ ([each, t(`${each}s.title`)])), pick: (chosen) => work.read({ kind: /** @type {any} */ (chosen) }) }),
      h(Pick, { label: t("import.csv.encoding"), value: encoding, choices: ENCODINGS.map((each) => /** @type {const} */ ([each, t(`encoding.${each}`)])), pick: (chosen) => work.read({ encoding: chosen }) }),
    ),
    h("pre", { class: "box first-rows", dir: "auto", tabIndex: 0, role: "region", "aria-label": t("import.csv.first") }, rows),
    h("p", { class: "hint" }, t("import.csv.about")),
    !isChecked && h("div", { class: "cluster form-actions" }, h(Button, { tone: "primary", idle: disabled, onClick: () => void work.send(true) }, t("import.check"))),
  );
}

/** @param {Blob} file @param {string} encoding @returns {string} */
function useBeginning(file, encoding) {
  const [bytes, setBytes] = useState(/** @type {ArrayBuffer | undefined} */ (undefined));
  useEffect(() => {
    let stays = true;
    file.slice(0, BEGINNING).arrayBuffer().then((read) => stays && setBytes(read), () => undefined);
    return () => void (stays = false);
  }, [file]);
  // The last character may be cut.
  return new TextDecoder(encoding).decode(bytes, { stream: true }).split(/\r?\n/, ROWS).join("\n");
}

/** The number of bad lines that are shown at first. */
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

/** The lines of a file that cannot be imported, with the problems of each. @param {Problem[]} problems @returns {Map<number, Problem[]>} by line */
const byLine = (problems) => Map.groupBy(problems, ({ loc }) => Number(loc[1]));

/** @param {{problems: Problem[]}} props */
function BadLines({ problems }) {
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

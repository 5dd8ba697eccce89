/** Importing a file: tried first, then all of it or nothing; and undone. */
import { h, useEffect, useMemo, useRef } from "../vendor/preact.js";
import { touched, Import } from "../parts/import/importing.js";
import { KINDS } from "../records.js";
import { guard } from "../router.js";
import { may } from "../session.js";
import { number, t } from "../texts.js";
import { BadLines, byLine } from "../parts/import/bad_lines.js";
import { Button, Link, Skeleton, ViewHead } from "../parts/primitives/basics.js";
import { UndoAll, useUndo } from "../parts/history/change_list.js";
import { Counted, useLeft } from "../parts/primitives/countdown.js";
import { CountsTable } from "../parts/import/counts_table.js";
import { FileChoice } from "../parts/import/file_choice.js";
import { lazy } from "../parts/primitives/lazy.js";
import { size } from "../parts/primitives/size.js";

const LazyCsvChoice = lazy(() => import("../parts/import/csv_choice.js").then((module) => module.CsvChoice), () => h(Skeleton, {}));

export default function ImportPage() {
  const work = useMemo(() => new Import(), []);
  const source = work.source.value;
  const state = work.state.value;
  useEffect(() => guard(() => work.state.peek().is === "sending"), []);
  useEffect(() => () => work.leave(), []);
  const mayAny = Object.values(KINDS).some(({ write }) => may(write));
  const isBusy = state.is === "sending";
  return h(
    "div",
    { class: "view import" },
    h(ViewHead, { title: t("import.title") }),
    h("p", { class: "lead" }, t("import.about"), " ", h(Link, { to: "export" }, t("import.like"))),
    !mayAny && h("p", { class: "remark" }, t("import.mayNothing")),
    mayAny && h(FileChoice, { choose: (file) => void work.choose(file), again: source !== undefined, disabled: isBusy }),
    source && h("p", { class: "file-name" }, h("bdi", null, source.name), h("span", { class: "aside" }, size(source.file.size))),
    source?.csv && !["done", "undone"].includes(state.is) && h(LazyCsvChoice, { work, file: source.file, csv: source.csv, disabled: isBusy, isChecked: state.is === "ready" }),
    h("div", { class: "outcome", "aria-live": "polite" }, h(Outcome, { work })),
  );
}

/** The result so far, and the next steps. @param {{work: Import}} props */
function Outcome({ work }) {
  const state = work.state.value;
  switch (state.is) {
    case "sending":
      return h(Sending, { work, ...state });
    case "refused":
      return h(Refused, { work, ...state });
    case "bad":
      return h(Bad, { work, problems: state.problems });
    case "ready":
      return h(Ready, { work, counts: state.counts });
    case "done":
      return h(Done, { work, counts: state.counts, requestId: state.requestId });
    case "undone":
      return h("p", { class: "success" }, t("import.undone"));
    default:
      return null;
  }
}

/** @param {{work: Import, words: string, until: number, lasts: boolean, counted: (left: number) => string}} props */
function Refused({ work, words, until, lasts, counted }) {
  const left = useLeft(until);
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  // On a phone, the first rows fill the view.
  useEffect(() => element.current?.scrollIntoView({ block: "nearest" }), [words]);
  return h(
    "div",
    { class: "stack loose outcome-part", ref: element },
    h("p", { class: "complaint", role: "alert", dir: "auto" }, h(Counted, { text: words, until, left, words: counted })),
    work.source.value && !lasts && h("div", null, h(Button, { idle: left > 0, onClick: () => void work.send(true) }, t("tryAgain"))),
  );
}

/** @param {{work: Import, dry: boolean, sent: number, whole: number}} props */
function Sending({ work, dry, sent, whole }) {
  const isSent = sent >= whole;
  const done = whole ? Math.floor((100 * sent) / whole) : 100;
  return h(
    "div",
    { class: "stack loose outcome-part" },
    h("label", { for: "sending" }, isSent ? t(dry ? "import.checking" : "import.storing") : t("import.sending", { percent: number(done) })),
    h("progress", { id: "sending", class: "progress", max: 100, value: done }),
    // Once the file is sent completely, the import can no longer be cancelled safely.
    (dry || !isSent) && h("div", null, h(Button, { onClick: () => work.stop() }, t("import.stop"))),
  );
}

/** @param {{work: Import, problems: import("../client.js").Problem[]}} props */
function Bad({ work, problems }) {
  const { file, csv } = /** @type {import("../parts/import/importing.js").Source} */ (work.source.value);
  return h(
    "section",
    { class: "stack loose outcome-part" },
    h("h2", null, t("import.bad", { n: byLine(problems).size })),
    h("p", null, t("import.bad.file")),
    h(BadLines, { problems, file, encoding: csv?.encoding ?? "utf-8" }),
  );
}

/** @returns {[string, string][]} */
const columns = () => [
  ["created", t("import.created")],
  ["amended", t("import.amended")],
  ["unchanged", t("import.unchanged")],
];

/** @param {import("../parts/import/importing.js").Counts} counts */
const present = (counts) => Object.fromEntries(Object.entries(counts).filter(([, { created, amended, unchanged }]) => created + amended + unchanged > 0));

/** @param {{work: Import, counts: import("../parts/import/importing.js").Counts}} props */
function Ready({ work, counts }) {
  const n = touched(counts);
  const heading = useRef(/** @type {HTMLHeadingElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  const reason = n === 0 ? t("import.same") : undefined;
  return h(
    "section",
    { class: "stack loose outcome-part" },
    h("h2", { ref: heading, tabIndex: -1 }, n ? t("import.ready", { n }) : t("import.same")),
    h(CountsTable, { rows: present(counts), columns: columns(), label: t("import.would") }),
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
  const kinds = Object.keys(present(counts)).map((kind) => /** @type {any} */ ({ kind }));
  return h(
    "section",
    { class: "stack loose outcome-part" },
    h("h2", { ref: heading, tabIndex: -1, class: "success" }, t("import.done", { n: touched(counts) })),
    h(CountsTable, { rows: present(counts), columns: columns(), label: t("import.did") }),
    Number(counts.user?.created) > 0 && h("p", { class: "remark" }, t("import.passwords")),
    h(
      "div",
      { class: "cluster form-actions" },
      h(UndoAll, { request: requestId, changes: kinds, count: touched(counts), busy, undo }),
      may("changes:read") && h(Link, { to: `history?request=${encodeURIComponent(requestId)}`, class: "button quiet" }, t("import.history")),
    ),
    complaint,
  );
}

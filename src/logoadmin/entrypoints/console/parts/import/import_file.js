/** Importing a file: tried first, then all of it or nothing; and undone. */
import { h, useEffect, useMemo, useRef } from "../../vendor/preact.js";
import { touched, Import } from "./importing.js";
import { KINDS } from "../../records.js";
import { guard } from "../../router.js";
import { may } from "../../session.js";
import { number, t } from "../../texts.js";
import { BadLines, byLine } from "./bad_lines.js";
import { Button, Link, Skeleton } from "../primitives/basics.js";
import { UndoAll, useUndo } from "../history/change_list.js";
import { Counted, useLeft } from "../primitives/countdown.js";
import { FileChoice } from "./file_choice.js";
import { lazy } from "../primitives/lazy.js";
import { size } from "../primitives/size.js";

const LazyCsvChoice = lazy(() => import("./csv_choice.js").then((module) => module.CsvChoice), () => h(Skeleton, {}));

export function ImportFile() {
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
    source?.csv && !["done", "undone"].includes(state.is) && h(LazyCsvChoice, { key: "csv", work, file: source.file, csv: source.csv, disabled: isBusy, isChecked: state.is === "ready" }),
    h("div", { key: "outcome", class: "outcome", "aria-live": "polite" }, h(Outcome, { work })),
  ];
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
      return h(Bad, { problems: state.problems });
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

/** @param {{problems: import("../../client.js").Problem[]}} props */
function Bad({ problems }) {
  return h("section", { class: "stack loose outcome-part" },
    h("h3", null, t("import.bad", { n: byLine(problems).size })),
    h("p", null, t("import.bad.file")),
    h(BadLines, { problems }),
  );
}

/** What there would be, or is, of each kind. @param {{counts: import("./importing.js").Counts, label: string}} props */
const Numbers = ({ counts, label }) =>
  h("ul", { class: "box divided", "aria-label": label },
    present(counts).map(([kind, { created, amended, unchanged }]) => h("li", { key: kind, class: "row" }, t("import.numbers", { kind: t(`kinds.${kind}`), created, amended, unchanged }))),
  );

/** @param {import("./importing.js").Counts} counts @returns {[import("../../records.js").KindName, import("./importing.js").Counts[string]][]} */
const present = (counts) => /** @type {any} */ (Object.entries(counts).filter(([, { created, amended, unchanged }]) => created + amended + unchanged > 0));

/** @param {{work: Import, counts: import("./importing.js").Counts}} props */
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

/** @param {{work: Import, counts: import("./importing.js").Counts, requestId: string}} props */
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

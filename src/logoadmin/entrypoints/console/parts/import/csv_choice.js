/** How a CSV file is to be read: what its records are, and its encoding, with its first rows to judge it by. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Pick } from "../lists/toolbar.js";
import { Button } from "../primitives/basics.js";
import { CSV_KINDS, ENCODINGS, openKinds } from "./file_kind.js";

/** What is shown: the first bytes of the file, and its first lines. */
const BEGINNING = 1024;
const ROWS = 5;

/** @param {{work: import("./importing.js").Import, file: Blob, csv: import("./importing.js").Csv, disabled: boolean, isChecked: boolean}} props */
export function CsvChoice({ work, file, csv, disabled, isChecked }) {
  const { kind, encoding } = csv;
  const kinds = CSV_KINDS.filter((each) => each === kind || openKinds().includes(each));
  const rows = useBeginning(file, encoding);
  return h("section", { class: "stack loose", "aria-label": t("import.csv") },
    h("div", { class: "cluster" },
      h(Pick, { label: t("import.csv.kind"), value: kind, choices: kinds.map((each) => /** @type {const} */ ([each, t(`kinds.${each}`)])), pick: (chosen) => work.read({ kind: /** @type {any} */ (chosen) }) }),
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

/** Records from a file, tried first, then all of it or nothing, and undone; and records into a file. */
import { h, useEffect, useRef, useState } from "../vendor/preact.js";
import { Failure, opened } from "../client.js";
import { saveFile, today } from "../parts/primitives/files.js";
import { may } from "../session.js";
import { t } from "../texts.js";
import { Pick } from "../parts/lists/toolbar.js";
import { Breadcrumbs, Button, rich, useFailure, ViewHead } from "../parts/primitives/basics.js";
import { CSV_KINDS } from "../parts/import/importing.js";
import { ImportFile } from "../parts/import/import_file.js";
import { KINDS, maySee } from "../records.js";

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
      h(Button, { icon: "Download", busy: isBusy, onClick: () => void start(kinds, csv ? "csv" : "jsonl") }, t(isBusy ? "export.running" : "export.do")),
      isBusy && h(Button, { onClick: stop }, t("import.stop")),
    ),
    h("div", { key: "outcome", "aria-live": "polite" },
      state.is === "failed" && h("p", { class: "complaint", role: "alert" }, state.failure ? h(Refused, { failure: state.failure }) : t("export.broken")),
      state.is === "done" && h("p", { class: "success" }, t("export.saved")),
    ),
  ];
}

/** @param {{failure: Failure}} props */
const Refused = ({ failure }) => useFailure(failure).words;

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

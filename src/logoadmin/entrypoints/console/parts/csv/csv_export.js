/** Writes a list into a CSV file: all of its pages, filtered and in the order of the list. */
import { h, useEffect, useMemo, useState } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { say } from "../../notices.js";
import { readList } from "../../records.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { useFailure } from "../primitives/countdown.js";
import { Dialog } from "../primitives/dialog.js";
import { pagesOf } from "../lists/pages.js";
import { columnsOf } from "./columns.js";
import { csvFile } from "./csv.js";
import { saveFile, today } from "./save_file.js";

/** Before this many milliseconds have passed, no dialog interrupts. */
const PATIENCE = 400;

/** @param {import("../lists/export_button.js").Props & {close: () => void}} props */
export function CsvExport({ kind, filters = {}, choose, count, close }) {
  const stop = useMemo(() => new AbortController(), []);
  const [read, setRead] = useState(0);
  const [isSlow, setSlow] = useState(false);
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const run = async () => {
    setFailure(undefined);
    try {
      if (kind === "user" && may("roles:read")) await readList("role");
      /** @type {any[]} */
      const records = [];
      for await (const page of pagesOf(kind, filters, stop.signal)) {
        records.push(...page);
        setRead(records.length);
      }
      const chosen = choose(records);
      const columns = columnsOf(kind);
      const rows = chosen.map((record) => columns.map(({ cell }) => cell(record)));
      saveFile(csvFile(columns.map(({ title }) => title), rows), `${kind}s-${today()}.csv`);
      say(t("csv.done", { n: rows.length }));
      close();
    } catch (error) {
      if (stop.signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      setSlow(true);
      setFailure(error);
    }
  };
  useEffect(() => {
    void run();
    const timer = setTimeout(() => setSlow(true), PATIENCE);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, []);
  if (!isSlow) return null;
  return h(
    Dialog,
    { title: t("csv.export"), close },
    failure ? h(Refused, { failure, again: () => void run() }) : h(Running, { read, all: count }),
    h("div", { class: "cluster dialog-actions" }, h(Button, { onClick: close }, t(failure ? "close" : "bulk.stop"))),
  );
}

/** @param {{read: number, all: number | undefined}} props */
function Running({ read, all = 0 }) {
  return [
    h("p", { key: "words", id: "csv-read", role: "status" }, t("csv.read", { n: read })),
    h("progress", { key: "bar", class: "progress", "aria-labelledby": "csv-read", ...(read < all ? { max: all, value: read } : {}) }),
  ];
}

/** @param {{failure: Failure, again: () => void}} props */
function Refused({ failure, again }) {
  const { words, left } = useFailure(failure);
  return [
    h("p", { key: "words", class: "complaint", role: "alert" }, words),
    h("div", { key: "way" }, h(Button, { icon: "RefreshCw", busy: left > 0, onClick: again }, t("tryAgain"))),
  ];
}

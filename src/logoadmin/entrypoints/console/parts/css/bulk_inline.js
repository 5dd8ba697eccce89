/** Copies the stylesheets that many themes import into their CSS, one after the other, and then changes all by one request (contract L5). */
import { Failure, call } from "../../client.js";
import { describe, say } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf } from "../../records.js";
import { t } from "../../texts.js";
import { doMany } from "../lists/bulk_run.js";
import { work } from "../lists/bulk_work.js";
import { choose } from "../primitives/dialog.js";
import { failureWords } from "../publication/fetch_failure.js";

/** @param {any} record @returns {boolean} whether its CSS may have an import: an at-rule has its name in the text, or an escape */
const mayImport = ({ custom_css: css }) => css.includes("@") && (css.includes("\\") || css.toLowerCase().includes("import"));

/** @param {"logo" | "theme"} kind @param {any[]} chosen @param {import("../lists/selection.js").Selection} selection What could not be done stays selected. */
export async function inlineMany(kind, chosen, selection) {
  const records = chosen.filter(mayImport);
  if (records.length === 0) return void say(t("bulk.inline.none"), { tone: "failed" });
  if (work.value) return;
  const { id } = KINDS[kind];
  const { copies, failed } = await copied(kind, records);
  const now = new Map(listOf(kind).peek().records?.map((/** @type {any} */ record) => [record[id], record]));
  // Other CSS that somebody saved meanwhile stays.
  const ready = records.filter((record) => copies.has(record[id]) && (now.get(record[id]) ?? record).custom_css === record.custom_css);
  const left = records.filter((record) => !ready.includes(record));
  if (ready.length > 0) await doMany(kind, { act: "inline", change: (/** @type {any} */ record) => ({ set: { custom_css: copies.get(record[id]) } }) }, ready, selection);
  selection.set([...new Set([...(ready.length > 0 ? selection.ids.peek() : []), ...left.map((record) => record[id])])]);
  const list = left.flatMap((record) => (failed.has(record[id]) ? [t("inline.failed.one", { name: nameOf(kind, record), why: failed.get(record[id]) ?? "" })] : []));
  if (list.length === 0) return;
  const answer = await choose({ title: t("inline.failed", { n: list.length }), text: "", list, yes: t("tryAgain"), no: t("close") });
  if (answer === "yes") void inlineMany(kind, left, selection);
}

/** @param {"logo" | "theme"} kind @param {any[]} records @returns {Promise<{copies: Map<number, string>, failed: Map<number, string>}>} by the id of the record */
async function copied(kind, records) {
  const { id } = KINDS[kind];
  const stop = new AbortController();
  const [copies, failed] = [new Map(), new Map()];
  try {
    for (const [at, record] of records.entries()) {
      work.value = { act: "inline", all: records.length, left: records.length - at, stop };
      try {
        const { data } = await call("post", "/api/css/inline", { body: { kind, custom_css: record.custom_css }, signal: stop.signal });
        if (data.failed.length > 0) failed.set(record[id], data.failed.map(({ reason }) => failureWords(reason)).join(" "));
        else if (data.custom_css !== record.custom_css) copies.set(record[id], data.custom_css);
      } catch (error) {
        if (stop.signal.aborted) break;
        if (!(error instanceof Failure)) throw error;
        failed.set(record[id], describe(error));
      }
    }
  } finally {
    work.value = undefined;
  }
  return { copies, failed };
}

/** Copies the pictures of many records, one after the other, and then sets all copies by one request (contract P3). */
import { call, Failure } from "../../client.js";
import { describe, say } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf } from "../../records.js";
import { path } from "../../router.js";
import { loadMoreTexts, t } from "../../texts.js";
import { failureWords, keepCopy, pictureFailure } from "../pictures/fetching.js";
import { pictureUrl } from "../primitives/basics.js";
import { choose } from "../primitives/dialog.js";
import { ownPicture } from "../primitives/picture.js";
import { work } from "./selection.js";
import { doMany } from "./bulk_run.js";

/** Of one picture alone: the others may still be copied. */
const OF_ONE = ["fault", "invalid", "late", "missing", "tooLarge"];

/** @param {any} record @returns {boolean} whether its picture is elsewhere */
const isElsewhere = ({ preview_url: url }) => pictureUrl(url) !== undefined && !ownPicture(url);

/** @param {"logo" | "theme"} kind @param {any[]} chosen @param {ListSelection} selection What could not be done stays selected. */
export async function keepCopies(kind, chosen, selection) {
  const records = chosen.filter(isElsewhere);
  if (records.length === 0) return void say(t("bulk.keep.none"), { tone: "failed" });
  if (work.value) return;
  const { id } = KINDS[kind];
  const start = path.peek();
  const { urls, failed, obstacle } = await copied(records);
  const now = new Map(listOf(kind).peek().records?.map((/** @type {any} */ record) => [record[id], record]));
  // Another picture that somebody set meanwhile stays.
  const isSame = (/** @type {any} */ record) => (now.get(record[id]) ?? record).preview_url === record.preview_url;
  const ready = records.filter((record) => urls.has(record.preview_url) && isSame(record));
  const left = records.filter((record) => !ready.includes(record));
  const change = (/** @type {any} */ record) => ({ set: { preview_url: urls.get(record.preview_url) } });
  if (ready.length > 0) await doMany(kind, { act: "keep", change }, ready, selection);
  selection.set([...new Set([...(ready.length > 0 ? selection.ids.peek() : []), ...left.map((record) => record[id])])]);
  await loadMoreTexts("publication").catch(() => undefined);
  // Without a way on, so that the undo of the others remains.
  if (obstacle) say(t("bulk.failed", { n: left.length, why: pictureFailure(obstacle) }), { tone: "failed" });
  const lines = left.flatMap((record) => {
    const failure = failed.get(record.preview_url);
    const why = failure ? pictureFailure(failure) : isSame(record) ? "" : t("keep.changed");
    return why ? [t("keep.failed.one", { name: nameOf(kind, record), why })] : [];
  });
  if (lines.length === 0) return;
  const title = t("keep.failed", { n: lines.length });
  // A question would interrupt people who work in another view by now.
  if (path.peek() !== start) return void say(`${title} ${lines.join(" ")}`, { tone: "failed" });
  const answer = await choose({ title, text: "", list: lines, yes: t("tryAgain"), no: t("close") });
  if (answer === "yes") void keepCopies(kind, left, selection);
}

/**
 * @param {any[]} records
 * @returns {Promise<{urls: Map<string, string>, failed: Map<string, Failure>, obstacle: Failure | undefined}>} the copies and
 *   the failures by the URL of the picture; and what stood in the way of all others
 */
async function copied(records) {
  const stop = new AbortController();
  const [urls, failed] = [new Map(), new Map()];
  let left = records.length;
  try {
    for (const { preview_url: url } of records) {
      work.value = { act: "keep", all: records.length, left, stop };
      try {
        if (!urls.has(url) && !failed.has(url)) urls.set(url, (await keepCopy(url, stop.signal)).url);
      } catch (error) {
        if (stop.signal.aborted) break;
        if (!(error instanceof Failure)) throw error;
        if (!OF_ONE.includes(error.kind) && !(error.kind === "unknown" && error.isLate)) return { urls, failed, obstacle: error };
        failed.set(url, error);
      }
      left -= 1;
    }
  } finally {
    work.value = undefined;
  }
  return { urls, failed, obstacle: undefined };
}

/**
 * Copies the stylesheets that many themes import into their CSS, one after the other, and then changes all by one request (contract L5).
 *
 * @param {any} record @returns {boolean} whether its CSS may have an import: an at-rule has its name in the text, or an escape */
const mayImport = ({ custom_css: css }) => css.includes("@") && (css.includes("\\") || css.toLowerCase().includes("import"));

/** @param {"logo" | "theme"} kind @param {any[]} chosen @param {ListSelection} selection What could not be done stays selected.
 */
export async function inlineMany(kind, chosen, selection) {
  const records = chosen.filter(mayImport);
  if (records.length === 0) return void say(t("bulk.inline.none"), { tone: "failed" });
  if (work.value) return;
  const { id } = KINDS[kind];
  const { copies, failed } = await copiedSheets(kind, records);
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
async function copiedSheets(kind, records) {
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

/** Copies the pictures of many records, one after the other, and then sets all copies by one request (contract P3). */
import { Failure } from "../../client.js";
import { say } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf } from "../../records.js";
import { path } from "../../router.js";
import { loadMoreTexts, t } from "../../texts.js";
import { doMany } from "../lists/bulk_run.js";
import { work } from "../lists/bulk_work.js";
import { pictureUrl } from "../primitives/basics.js";
import { choose } from "../primitives/dialog.js";
import { ownPicture } from "../primitives/own_picture.js";
import { keepCopy } from "./keep.js";
import { pictureFailure } from "./picture_failure.js";

/** Of one picture alone: the others may still be copied. */
const OF_ONE = ["fault", "invalid", "late", "missing", "tooLarge"];

/** @param {any} record @returns {boolean} whether its picture is elsewhere */
export const isElsewhere = ({ preview_url: url }) => pictureUrl(url) !== undefined && !ownPicture(url);

/** @param {"logo" | "theme"} kind @param {any[]} chosen @param {import("../lists/selection.js").Selection} selection What could not be done stays selected. */
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

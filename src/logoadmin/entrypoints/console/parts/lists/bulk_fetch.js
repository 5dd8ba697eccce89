/** Copies what many records have elsewhere, one after the other, and then sets all copies by one request. */
import { call, Failure } from "../../client.js";
import { say } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf } from "../../records.js";
import { path } from "../../router.js";
import { loadMoreTexts, t } from "../../texts.js";
import { failureWords, keepCopy, pictureFailure } from "../pictures/fetching.js";
import { pictureUrl } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";
import { ownPicture } from "../primitives/picture.js";
import { work } from "./selection.js";
import { doMany } from "./bulk_run.js";

/** Of one record alone: the others may still be copied. */
const OF_ONE = ["fault", "invalid", "late", "missing", "tooLarge"];

/** @param {any} record @returns {boolean} whether its picture is elsewhere */
const isElsewhere = ({ preview_url: url }) => pictureUrl(url) !== undefined && !ownPicture(url);
/** @param {any} record @returns {boolean} whether its CSS may have an import: an at-rule has its name in the text, or an escape */
const mayImport = ({ custom_css: css }) => css.includes("@") && (css.includes("\\") || css.toLowerCase().includes("import"));

/**
 * @typedef {object} Fetching
 * @property {"preview_url" | "custom_css"} field What the copy becomes.
 * @property {(record: any) => boolean} needs
 * @property {(kind: ArtworkKind, value: string, signal: AbortSignal) => Promise<string | string[]>} copy The copy, or the reasons for which the service copied nothing. @throws {Failure}
 */

/** @type {Record<"keep" | "inline", Fetching>} */
const FETCHING = {
  keep: { field: "preview_url", needs: isElsewhere, copy: async (_, url, signal) => (await keepCopy(url, signal)).url },
  inline: {
    field: "custom_css",
    needs: mayImport,
    copy: async (kind, css, signal) => {
      const { data } = await call("post", "/api/css/inline", { body: { kind, custom_css: css }, signal });
      return data.failed.length > 0 ? data.failed.map(({ reason }) => reason) : data.custom_css;
    },
  },
};

/**
 * Copy the pictures of many records into the gallery (contract P3), or the stylesheets that their CSS imports (contract L5).
 *
 * @param {"keep" | "inline"} act @param {ArtworkKind} kind @param {any[]} chosen @param {ListSelection} selection What could not be done stays selected.
 */
export async function fetchMany(act, kind, chosen, selection) {
  const { field, needs } = FETCHING[act];
  const records = chosen.filter(needs);
  if (records.length === 0) return void say(t(`bulk.${act}.none`), { tone: "failed" });
  if (work.value) return;
  const { id } = KINDS[kind];
  const start = path.peek();
  const { copies, failed, obstacle } = await copied(act, kind, records);
  const now = new Map(listOf(kind).peek().records?.map((/** @type {any} */ record) => [record[id], record]));
  // What somebody saved meanwhile stays.
  const isSame = (/** @type {any} */ record) => (now.get(record[id]) ?? record)[field] === record[field];
  const ready = records.filter((record) => copies.get(record[field]) !== undefined && copies.get(record[field]) !== record[field] && isSame(record));
  const left = records.filter((record) => !ready.includes(record));
  const change = (/** @type {any} */ record) => ({ set: { [field]: copies.get(record[field]) } });
  if (ready.length > 0) await doMany(kind, { act, change }, ready, selection);
  selection.set([...new Set([...(ready.length > 0 ? selection.ids.peek() : []), ...left.map((record) => record[id])])]);
  await loadMoreTexts("publication").catch(() => undefined);
  // Without a way on, so that the undo of the others remains.
  if (obstacle) say(t("bulk.failed", { n: left.length, why: pictureFailure(obstacle) }), { tone: "failed" });
  const list = left.flatMap((record) => {
    const failure = failed.get(record[field]);
    const why = failure instanceof Failure ? pictureFailure(failure) : failure ? failure.map(failureWords).join(" ") : isSame(record) ? "" : t("keep.changed");
    return why ? [t("keep.failed.one", { name: nameOf(kind, record), why })] : [];
  });
  if (list.length === 0) return;
  const title = t(`${act}.failed`, { n: list.length });
  // A question would interrupt people who work in another view by now.
  if (path.peek() !== start) return void say(`${title} ${list.join(" ")}`, { tone: "failed" });
  if (await ask({ title, text: "", list, yes: t("tryAgain"), no: t("close") })) void fetchMany(act, kind, left, selection);
}

/**
 * @param {"keep" | "inline"} act @param {ArtworkKind} kind @param {any[]} records
 * @returns {Promise<{copies: Map<string, string>, failed: Map<string, Failure | string[]>, obstacle: Failure | undefined}>} by what was
 *   copied; and what stood in the way of all others
 */
async function copied(act, kind, records) {
  const { field, copy } = FETCHING[act];
  const stop = new AbortController();
  const [copies, failed] = [new Map(), new Map()];
  let left = records.length;
  try {
    for (const { [field]: value } of records) {
      work.value = { act, all: records.length, left, stop };
      try {
        const found = copies.get(value) ?? failed.get(value) ?? (await copy(kind, value, stop.signal));
        (typeof found === "string" ? copies : failed).set(value, found);
      } catch (error) {
        if (stop.signal.aborted) break;
        if (!(error instanceof Failure)) throw error;
        if (!OF_ONE.includes(error.kind) && !(error.kind === "unknown" && error.isLate)) return { copies, failed, obstacle: error };
        failed.set(value, error);
      }
      left -= 1;
    }
  } finally {
    work.value = undefined;
  }
  return { copies, failed, obstacle: undefined };
}

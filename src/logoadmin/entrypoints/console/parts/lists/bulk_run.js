/** Carries out an action on many records, and reports the result with one undo, or with a way on after a failure. */
import { describe, say, sayDone, wordsOfWait } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, refreshList } from "../../records.js";
import { t } from "../../texts.js";
import { writeMany } from "./bulk_write.js";
import { work } from "./bulk_work.js";
import { named } from "./list_sync.js";

/** @typedef {import("./bulk_work.js").Action} Action */

/**
 * @param {import("../../records.js").KindName} kind
 * @param {Action} action
 * @param {any[]} records
 * @param {{set: (ids: number[]) => void} | undefined} selection What could not be done stays selected.
 * @param {string[]} [before] The acts of a beginning that was stopped: one undo is for all.
 * @param {() => Promise<any>} [repeat]
 */
export async function doMany(kind, action, records, selection, before = [], repeat) {
  if (work.value) return;
  const stop = new AbortController();
  const progress = (/** @type {number} */ left) => (work.value = { act: action.act, all: records.length, left, stop });
  progress(records.length);
  let outcome;
  try {
    outcome = await writeMany(kind, records, action.change, { stop: stop.signal, step: progress, note: action.note, before, ...(repeat ? { repeat } : {}) });
  } finally {
    work.value = undefined;
  }
  const { changed, missing, left, failure } = outcome;
  let { requestIds } = outcome;
  const { id } = KINDS[kind];
  selection?.set([...changed, ...left].map((record) => record[id]));
  const again = (/** @type {(() => Promise<any>) | undefined} */ repeated) => void doMany(kind, action, left, selection, requestIds, repeated);
  const count = records.length - left.length - changed.length - missing.length;
  if (requestIds.length > 0) {
    sayDone(doneWords(kind, action, records, count), requestIds, () => {
      requestIds = [];
      void refreshList(kind);
    });
  }
  if (changed.length + missing.length > 0) {
    const way = left.length > 0 ? { action: { text: t("bulk.others", { n: left.length }), run: () => again(undefined) } } : {};
    say(conflictWords(kind, changed, missing), { tone: "failed", ...way });
  }
  if (!failure) return;
  // What repeats a read does not write.
  const way = failure.passes
    ? { action: { text: t("tryAgain"), run: () => again(failure.kind === "unknown" ? failure.repeat : undefined) } }
    : {};
  const withLeft = (/** @type {string} */ why) => (records.length === 1 ? why : t("bulk.failed", { n: left.length, why }));
  say(withLeft(describe(failure)), { tone: "failed", ...way, until: failure.until, words: (seconds) => withLeft(wordsOfWait(failure)(seconds)), reference: failure.reference });
}

/** @param {import("../../records.js").KindName} kind @param {Action} action @param {any[]} records @param {number} count */
function doneWords(kind, { act, values = {} }, records, count) {
  return records.length === 1 ? t(`bulk.${act}.one`, { name: nameOf(kind, records[0]), ...values }) : t(`bulk.${act}.done`, { n: count, ...values });
}

/** @param {import("../../records.js").KindName} kind @param {any[]} changed @param {any[]} missing */
function conflictWords(kind, changed, missing) {
  return [
    changed.length > 0 && t("bulk.changed", { n: changed.length, names: named(kind, changed) }),
    missing.length > 0 && t("elsewhere.removed", { n: missing.length, names: named(kind, missing) }),
    t("bulk.nothing"),
  ].filter(Boolean).join(" ");
}

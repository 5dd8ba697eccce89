/** Carries out an action on many records, and reports the result with one undo, or with a way on after a failure. */
import { call, Failure } from "../../client.js";
import { describe, say, sayDone, wordsOfWait } from "../../notices.js";
import { nameOf, namesOf, withDetails } from "../../presentation.js";
import { contentOf, KINDS, listOf, readList, replaceMany } from "../../records.js";
import { t } from "../../texts.js";
import { MOST, work } from "./selection.js";

/** @typedef {import("./selection.js").Action} Action */

/**
 * @param {KindName} kind
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
    outcome = await writeMany(kind, records, action, { stop: stop.signal, step: progress, before, repeat });
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
    const what = records.length === 1 ? nameOf(kind, records[0]) : count;
    sayDone(t(`bulk.${action.act}.done`, { what, ...action.values }), requestIds, () => {
      requestIds = [];
      void readList(kind);
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

/** @param {KindName} kind @param {any[]} changed @param {any[]} missing */
function conflictWords(kind, changed, missing) {
  return [
    changed.length > 0 && t("bulk.changed", { n: changed.length, names: namesOf(kind, changed) }),
    missing.length > 0 && t("elsewhere.removed", { n: missing.length, names: namesOf(kind, missing) }),
    t("bulk.nothing"),
  ].filter(Boolean).join(" ");
}

/**
 * The same change to many records by one request, all or nothing, each only if its record is unchanged since it was
 * read (contract J7). More records than one request may change are changed by several, one after the other, which are
 * one act of the history.
 *
 * @typedef {{set: Record<string, unknown>} | {remove: true}} Change
 * @typedef {object} Outcome
 * @property {string[]} requestIds Of the acts: one, unless somebody else changed something meanwhile.
 * @property {any[]} changed Records that somebody else has changed: nothing was done because of them.
 * @property {any[]} missing Those that somebody else has removed.
 * @property {any[]} left The records that were not changed, without these.
 * @property {Failure | undefined} failure Why it stopped; `repeat` sends the request again, if its answer was lost.
 */

/**
 * @param {KindName} kind
 * @param {any[]} records As they are shown.
 * @param {Action} action
 * @param {{stop: AbortSignal, step: (left: number) => void, before: string[], repeat: (() => Promise<any>) | undefined}} way
 *   `stop` ends it between two requests, `step` follows each, and `repeat` sends the first one again, whose answer was lost.
 * @returns {Promise<Outcome>}
 */
async function writeMany(kind, records, { change, note }, { stop, step, before, repeat }) {
  /** @type {Outcome} */
  const outcome = { requestIds: [...before], changed: [], missing: [], left: records, failure: undefined };
  const { id } = KINDS[kind];
  while (outcome.left.length > 0 && !stop.aborted) {
    const some = outcome.left.slice(0, MOST);
    const changes = some.map((record) => ({ kind, id: record[id], version: record.version, ...change(record) }));
    try {
      const continues = outcome.requestIds.at(-1);
      const body = /** @type {any} */ ({ changes, ...(continues ? { continues } : {}) });
      const answer = await (repeat ?? (() => call("post", "/api/changes", { body, ...(note ? { note } : {}) })))();
      take(kind, some, changes, answer.data);
      const [first] = answer.data;
      if (first && first.request_id !== continues) outcome.requestIds.push(first.request_id);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind !== "missing" && error.kind !== "outdated") return { ...outcome, failure: error };
      return compared(kind, outcome, error);
    }
    repeat = undefined;
    outcome.left = outcome.left.slice(MOST);
    step(outcome.left.length);
  }
  return outcome;
}

/** Update the list with the changes. @param {KindName} kind @param {any[]} records @param {any[]} changes @param {any[]} made As the history has them. */
function take(kind, records, changes, made) {
  const { id } = KINDS[kind];
  const last = new Map(made.map((each) => [each.id, { version: each.change_id, changed_at: each.at }]));
  const now = records.flatMap((record, at) => {
    const { unblock: _, details = {}, ...fields } = changes[at].set ?? {};
    return changes[at].remove ? [] : [{ ...withDetails(record, details), ...fields, ...last.get(record[id]) }];
  });
  // Lists name the authors of a record in full.
  if (changes.some(({ set }) => set?.author_ids) || !listOf(kind).value.records) void readList(kind);
  else replaceMany(kind, records.map((record) => record[id]), now);
}

/**
 * The service names the first record that somebody else has changed or removed: find all of them.
 *
 * @param {KindName} kind @param {Outcome} outcome @param {Failure} failure @returns {Promise<Outcome>}
 */
async function compared(kind, outcome, failure) {
  const { id } = KINDS[kind];
  await readList(kind);
  const now = new Map(listOf(kind).value.records?.map((/** @type {any} */ record) => [record[id], record]));
  const isChanged = (/** @type {any} */ record) => now.has(record[id]) && contentOf(now.get(record[id])) !== contentOf(record);
  const missing = outcome.left.filter((record) => !now.has(record[id]));
  const changed = outcome.left.filter(isChanged);
  const left = outcome.left.filter((record) => now.has(record[id]) && !isChanged(record)).map((record) => now.get(record[id]));
  return missing.length + changed.length > 0 ? { ...outcome, missing, changed, left } : { ...outcome, failure };
}

/** @type {Record<"on" | "off" | "remove", Action>} */
export const ACTIONS = {
  on: { act: "on", change: () => ({ set: { active: true } }) },
  off: { act: "off", change: () => ({ set: { active: false } }) },
  remove: { act: "remove", change: () => ({ remove: true }) },
};

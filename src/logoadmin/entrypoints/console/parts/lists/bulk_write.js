/**
 * The same change to many records by one request, all or nothing, each only if its record is unchanged since it was
 * read (contract J7). More records than one request may change are changed by several, one after the other, which are
 * one act of the history.
 *
 * @typedef {import("../../records.js").KindName} KindName
 * @typedef {{set: Record<string, unknown>} | {remove: true}} Change
 * @typedef {object} Outcome
 * @property {string[]} requestIds Of the acts: one, unless somebody else changed something meanwhile.
 * @property {any[]} changed Records that somebody else has changed: nothing was done because of them.
 * @property {any[]} missing Those that somebody else has removed.
 * @property {any[]} left The records that were not changed, without these.
 * @property {Failure | undefined} failure Why it stopped; `repeat` sends the request again, if its answer was lost.
 */
import { call, Failure } from "../../client.js";
import { withDetails } from "../../details.js";
import { KINDS, contentOf, listOf, readList, refreshList, replaceMany } from "../../records.js";
import { MOST } from "./bulk_work.js";

/**
 * @param {KindName} kind
 * @param {any[]} records As they are shown.
 * @param {(record: any) => Change} change
 * @param {object} way
 * @param {AbortSignal} way.stop Ends it between two requests.
 * @param {(left: number) => void} [way.step] After each request.
 * @param {string | undefined} [way.note] Why, for the history.
 * @param {string[]} [way.before] The acts of a beginning that was stopped.
 * @param {() => Promise<any>} [way.repeat] Sends the first one again, whose answer was lost.
 * @returns {Promise<Outcome>}
 */
export async function writeMany(kind, records, change, { stop, step, note, before = [], repeat }) {
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
    step?.(outcome.left.length);
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
  if (changes.some(({ set }) => set?.author_ids) || !listOf(kind).value.records) void refreshList(kind);
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

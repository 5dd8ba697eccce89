/**
 * The same change to many records: one write after the other, each only if its record is unchanged since it was shown.
 *
 * @typedef {import("../../records.js").KindName} KindName
 * @typedef {{active: boolean} | "remove"} Change
 * @typedef {object} Outcome
 * @property {string[]} requestIds Of the completed writes, in order.
 * @property {any[]} changed Records that somebody else has changed: nothing was done to them.
 * @property {any[]} missing Those that somebody else has removed.
 * @property {any[]} left Those whose turn did not come.
 * @property {Failure | undefined} failure Why it stopped; `repeat` does the first of `left` again, if its answer was lost.
 */
import { call, Failure } from "../../client.js";
import { KINDS, drop, upsert } from "../../records.js";

/**
 * @param {KindName} kind
 * @param {any[]} records As they are shown.
 * @param {Change} change
 * @param {object} way
 * @param {AbortSignal} way.stop Ends it between two writes.
 * @param {(left: number) => void} [way.step] After each record.
 * @param {() => Promise<any>} [way.repeat] What does the first one, whose answer was lost.
 * @returns {Promise<Outcome>}
 */
export async function writeMany(kind, records, change, { stop, step, repeat }) {
  /** @type {Outcome} */
  const outcome = { requestIds: [], changed: [], missing: [], left: [...records], failure: undefined };
  while (outcome.left.length > 0 && !stop.aborted) {
    const [record] = outcome.left;
    try {
      const answer = await (repeat ?? (() => write(kind, record, change)))();
      take(kind, record, change, answer);
      if (answer.requestId) outcome.requestIds.push(answer.requestId);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === "missing") outcome.missing.push(record);
      else if (error.kind === "outdated") outcome.changed.push(record);
      else return { ...outcome, failure: error };
      await look(kind, record);
    }
    repeat = undefined;
    outcome.left.shift();
    step?.(outcome.left.length);
  }
  return outcome;
}

/** @param {KindName} kind @param {any} record @param {Change} change */
async function write(kind, record, change) {
  const { one, id } = /** @type {any} */ (KINDS[kind]);
  const path = /** @type {any} */ ({ [id]: record[id] });
  // Lists tell no version of each record, so it is asked for; it counts only if it is that of what is shown.
  const read = await call("get", /** @type {any} */ (one), /** @type {any} */ ({ path }));
  if (JSON.stringify(read.data) !== JSON.stringify(record)) throw new Failure("outdated");
  const more = { path, ifMatch: read.etag };
  if (change === "remove") return call("delete", one, /** @type {any} */ (more));
  return call("patch", one, /** @type {any} */ ({ ...more, body: change }));
}

/** @param {KindName} kind @param {any} record @param {Change} change @param {import("../../client.js").Answer<any>} answer */
function take(kind, record, change, answer) {
  if (change === "remove") drop(kind, record[KINDS[kind].id]);
  else upsert(kind, answer.data);
}

/** Show what somebody else made of a record. @param {KindName} kind @param {any} record */
async function look(kind, record) {
  const { one, id } = /** @type {any} */ (KINDS[kind]);
  try {
    const read = await call("get", one, /** @type {any} */ ({ path: { [id]: record[id] } }));
    upsert(kind, /** @type {any} */ (read.data));
  } catch (error) {
    if (error instanceof Failure && error.kind === "missing") drop(kind, record[id]);
  }
}

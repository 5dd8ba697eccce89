/** The order in which each list was last shown, in which a record leads to the next and the previous one. */
import { KINDS } from "./records.js";

/** @typedef {import("./records.js").KindName} KindName */

/** @type {Partial<Record<KindName, readonly any[]>>} */
let trails = {};

/** @param {KindName} kind @param {readonly any[] | undefined} records as the list shows them */
export function leaveTrail(kind, records) {
  if (records) trails[kind] = records;
}

export const forgetTrails = () => void (trails = {});

/** @param {KindName} kind @param {number} id @returns {{at: number, ids: number[]} | undefined} its place in the list, counted from 0; none where the list did not show it */
export function trailOf(kind, id) {
  const ids = (trails[kind] ?? []).map((record) => record[KINDS[kind].id]);
  const at = ids.indexOf(id);
  return at < 0 ? undefined : { at, ids };
}

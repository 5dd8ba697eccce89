/** When records were last changed: lists do not have it, but the history does. */
import { h, signal, useEffect } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { listOf } from "../../records.js";
import { day, t } from "../../texts.js";
import { Time } from "../primitives/basics.js";

/** The latest changes of a kind, which suffice for the records that are looked at most. */
const LATEST = 500;

/** @typedef {import("../../records.js").KindName} KindName */
/** @typedef {{times: Map<number, number>, since: number}} Known `since` is the time of the first change read, 0 if there is none before. */

/** @type {import("../../vendor/preact.js").Signal<Partial<Record<KindName, Known>>>} */
const known = signal({});

/** Read the times whenever the list changes. @param {KindName} kind @param {boolean} isShown */
export function useChangeTimes(kind, isShown) {
  const list = listOf(kind).value;
  useEffect(() => void (isShown && read(kind)), [kind, list, isShown]);
}

/** @param {KindName} kind */
async function read(kind) {
  try {
    const { data, next } = await call("get", "/api/changes", { query: { kind, order: "desc", limit: LATEST } });
    const times = new Map(data.toReversed().map((/** @type {any} */ change) => [change.id, change.at]));
    known.value = { ...known.value, [kind]: { times, since: next ? (data.at(-1)?.at ?? 0) : 0 } };
  } catch (error) {
    // The column stays empty.
    if (!(error instanceof Failure)) throw error;
  }
}

/** @param {{kind: KindName, id: number}} props */
export function ChangeTime({ kind, id }) {
  const found = known.value[kind];
  const at = found?.times.get(id);
  if (at !== undefined) return h(Time, { seconds: at });
  return found?.since ? t("changed.before", { date: day(found.since) }) : null;
}

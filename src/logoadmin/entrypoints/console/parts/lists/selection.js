/** The selection in a list: single items, or a range with Shift. */
import { signal, useEffect, useMemo } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";

/**
 * @typedef {object} Selection
 * @property {import("../../vendor/preact.js").Signal<ReadonlySet<number>>} ids
 * @property {(id: number, upTo: boolean) => void} toggle `upTo`: as this one becomes, so do all since the last.
 * @property {(ids: Iterable<number>) => void} set
 * @property {() => number[]} shown The ids of what the list shows, in its order.
 */

/**
 * @param {import("../../records.js").KindName} kind
 * @param {any[] | undefined} found What the list shows; what it does not show any more is not selected any more either.
 * @returns {Selection}
 */
export function useSelection(kind, found) {
  const selection = useMemo(selected, [kind]);
  const { id } = KINDS[kind];
  selection.shown = () => found?.map((record) => record[id]) ?? [];
  useEffect(() => {
    if (!found || selection.ids.value.size === 0) return;
    const shown = new Set(selection.shown());
    const left = [...selection.ids.value].filter((each) => shown.has(each));
    if (left.length < selection.ids.value.size) selection.set(left);
  }, [found]);
  return selection;
}

/** @returns {Selection} */
function selected() {
  /** @type {import("../../vendor/preact.js").Signal<ReadonlySet<number>>} */
  const ids = signal(new Set());
  /** @type {number | undefined} */
  let last;
  /** @type {Selection} */
  const selection = {
    ids,
    shown: () => [],
    set(chosen) {
      ids.value = new Set(chosen);
    },
    toggle(id, upTo) {
      const next = new Set(ids.value);
      const becomes = !next.has(id);
      for (const each of upTo ? between(selection.shown(), last ?? id, id) : [id]) {
        if (becomes) next.add(each);
        else next.delete(each);
      }
      last = id;
      ids.value = next;
    },
  };
  return selection;
}

/** @param {number[]} shown @param {number} a @param {number} b @returns {number[]} both and what is between them */
function between(shown, a, b) {
  const [from, to] = [shown.indexOf(a), shown.indexOf(b)].sort((one, other) => one - other);
  return from === undefined || to === undefined || from < 0 ? [b] : shown.slice(from, to + 1);
}

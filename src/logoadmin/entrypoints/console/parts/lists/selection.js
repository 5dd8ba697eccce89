/** The selection in a list: single records, or a range with Shift; all with Ctrl+A, and none with Escape. Back restores it. */
import { signal, useEffect, useMemo } from "../../vendor/preact.js";
import { restored } from "../../router.js";
import { isTyping } from "../../typing.js";

/**
 * @typedef {object} Selection
 * @property {import("../../vendor/preact.js").Signal<ReadonlySet<number>>} ids
 * @property {(id: number, upTo: boolean) => void} toggle `upTo`: as this one becomes, so do all since the last.
 * @property {(from: number, to: number, isExtended: boolean) => void} move The arrow keys went there; with Shift they
 *   select all from where it was first pressed.
 * @property {(ids: Iterable<number>) => void} set
 * @property {() => number[]} shown The ids of what the list shows, in its order.
 */

/** @param {string} id The name of their ids. @param {any[] | undefined} found What the list shows; what it does not show any more is not selected any more either. @returns {Selection} */
export function useSelection(id, found) {
  const selection = useMemo(() => restored(`selection.${id}`, selected), [id]);
  useKeys(selection);
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
  /** The record at which Shift was first pressed with an arrow key, and the selection of that moment. @type {{from: number, ids: ReadonlySet<number>} | undefined} */
  let anchor;
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
      anchor = undefined;
      ids.value = next;
    },
    move(from, to, isExtended) {
      if (!isExtended) return void (anchor = undefined);
      anchor ??= { from, ids: ids.value };
      last = to;
      ids.value = new Set([...anchor.ids, ...between(selection.shown(), anchor.from, to)]);
    },
  };
  return selection;
}

/** Shift with a click anywhere on a record. @param {MouseEvent} event @param {Selection} selection @param {number} id */
export function selectUpTo(event, selection, id) {
  // A checkbox does it too.
  if (event.target instanceof HTMLInputElement) return;
  event.preventDefault();
  event.stopPropagation();
  getSelection()?.removeAllRanges();
  selection.toggle(id, true);
}

/** @param {Selection} selection */
function useKeys(selection) {
  useEffect(() => {
    /** @param {KeyboardEvent} event */
    const pressed = (event) => {
      if (event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return;
      if (event.code === "KeyA" && (event.ctrlKey || event.metaKey) && !event.shiftKey) selection.set(selection.shown());
      else if (event.key === "Escape" && selection.ids.value.size > 0) selection.set([]);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", pressed);
    return () => removeEventListener("keydown", pressed);
  }, [selection]);
}

/** @param {number[]} shown @param {number} a @param {number} b @returns {number[]} both and what is between them */
function between(shown, a, b) {
  const [from, to] = [shown.indexOf(a), shown.indexOf(b)].sort((one, other) => one - other);
  return from === undefined || to === undefined || from < 0 ? [b] : shown.slice(from, to + 1);
}

/** The selection in a list, which Back restores; the strip over the list; and the action for many that is in progress. */
import { h, signal, useEffect, useMemo } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";
import { isTyping, restored } from "../../router.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { useEvents } from "../primitives/hooks.js";

/**
 * @typedef {object} Selection
 * @property {Signal<ReadonlySet<number>>} ids
 * @property {(id: number, upTo: boolean) => void} toggle `upTo`: as this one becomes, so do all since the last.
 * @property {(from: number, to: number, isExtended: boolean) => void} move The arrow keys went there; with Shift they
 *   select all from where it was first pressed.
 * @property {(ids: Iterable<number>) => void} set
 * @property {() => number[]} shown The ids of what the list shows, in its order.
 */

/** @param {string} id The name of their ids. @param {any[] | undefined} found What the list shows; what it does not show any more is not selected any more either. @returns {Selection} */
export function useSelection(id, found) {
  const selection = useMemo(() => restored(`selection.${id}`, selected), [id]);
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    if (event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return;
    if (event.code === "KeyA" && (event.ctrlKey || event.metaKey) && !event.shiftKey) selection.set(selection.shown());
    else if (event.key === "Escape" && selection.ids.value.size > 0) selection.set([]);
    else return;
    event.preventDefault();
  };
  useEvents(window, "keydown", pressed, [selection]);
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
  /** @type {Signal<ReadonlySet<number>>} */
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

/** @param {number[]} shown @param {number} a @param {number} b @returns {number[]} both and what is between them */
function between(shown, a, b) {
  const [from, to] = [shown.indexOf(a), shown.indexOf(b)].sort((one, other) => one - other);
  return from === undefined || to === undefined || from < 0 ? [b] : shown.slice(from, to + 1);
}

/** A strip over the list, which stays in view: how many there are, or what to do with those that are selected. @param {{kind: KindName | "proposal", artworks: any[] | undefined, selection: Selection, acts: (props: any) => any}} props */
export function ManyBar({ kind, artworks, selection, acts }) {
  const ids = selection.ids.value;
  const id = kind === "proposal" ? "proposal_id" : KINDS[kind].id;
  const chosen = useMemo(() => artworks?.filter((each) => ids.has(each[id])) ?? [], [artworks, ids]);
  const busy = work.value && work.value.all > 1 ? work.value : undefined;
  return h("section", { class: chosen.length > 0 || busy ? "strip chosen" : "strip", "aria-label": t("bulk") },
    h("span", { class: "found", role: "status" },
      artworks && (chosen.length > 0 ? t("bulk.selected", { n: chosen.length }) : t("found", { n: artworks.length })),
    ),
    !busy && artworks && chosen.length < artworks.length && h(Button, { tone: "quiet", onClick: () => selection.set(selection.shown()) }, t("bulk.all")),
    (busy || chosen.length > 0) && h(acts, { kind, chosen, artworks: artworks ?? [], selection, busy }),
  );
}

/**
 * The bulk action in progress; other views stay usable meanwhile.
 *
 * @typedef {"on" | "off" | "remove" | "target" | "link" | "unlink" | "licence" | "tag" | "untag" | "keep" | "inline"} Act
 * @typedef {object} Action
 * @property {Act} act
 * @property {(record: any) => import("./bulk_run.js").Change} change
 * @property {Record<string, string>} [values] Of its texts.
 * @property {string} [note] Why, for the history.
 * @typedef {{act: Act, all: number, left: number, stop: AbortController}} Work
 */

/** The most changes of one request (contract J7). */
export const MOST = 1000;

/** @type {Signal<Work | undefined>} */
export const work = signal(undefined);

/** The box that selects a record. @param {{selection: ListSelection, id: number, name: string, tabIndex?: number}} props */
export function SelectBox({ selection, id, name, tabIndex = 0 }) {
  return h("label", { class: "select-box" },
    h("input", {
      type: "checkbox",
      class: "select",
      checked: selection.ids.value.has(id),
      tabIndex,
      "aria-label": t("bulk.select", { name }),
      onClick: (event) => selection.toggle(id, event.shiftKey),
    }),
  );
}

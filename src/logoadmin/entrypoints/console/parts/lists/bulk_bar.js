/** The actions for all selected records, with their progress and result. */
import { h, signal, useMemo } from "../../vendor/preact.js";
import { writeMany } from "./bulk_write.js";
import { describe, say, sayDone, wordsOfWait } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, readList } from "../../records.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";
import { named } from "./list_sync.js";

/** @typedef {import("./bulk_write.js").Change} Change */
/** @typedef {"on" | "off" | "remove"} Act */
/** @typedef {{act: Act, all: number, left: number, stop: AbortController}} Work */

/** The bulk action in progress; other views stay usable meanwhile. @type {import("../../vendor/preact.js").Signal<Work | undefined>} */
export const work = signal(undefined);

/** @type {Record<Act, Change>} */
const CHANGES = { on: { active: true }, off: { active: false }, remove: "remove" };

/**
 * A strip over the list, which stays in view: how many there are, or what to do with those that are selected.
 *
 * @param {object} props
 * @param {"logo" | "theme"} props.kind
 * @param {any[] | undefined} props.artworks
 * @param {import("./selection.js").Selection} props.selection
 * @param {any} [props.children] At its end.
 */
export function ManyBar({ kind, artworks, selection, children }) {
  const ids = selection.ids.value;
  const { id } = KINDS[kind];
  const chosen = useMemo(() => artworks?.filter((each) => ids.has(each[id])) ?? [], [artworks, ids]);
  const busy = work.value && work.value.all > 1 ? work.value : undefined;
  return h(
    "section",
    { class: chosen.length > 0 || busy ? "strip chosen" : "strip", "aria-label": t("bulk") },
    h(
      "span",
      { class: "found", role: "status" },
      artworks && (chosen.length > 0 ? t("bulk.selected", { n: chosen.length }) : t("found", { n: artworks.length })),
    ),
    busy ? h(Working, { work: busy }) : artworks && artworks.length > 0 && h(Acts, { kind, chosen, all: artworks.length, selection }),
    children,
  );
}

/** @param {{kind: "logo" | "theme", chosen: any[], all: number, selection: import("./selection.js").Selection}} props */
function Acts({ kind, chosen, all, selection }) {
  const { write } = KINDS[kind];
  const selectAll = chosen.length < all && h(Button, { tone: "quiet", onClick: () => selection.set(selection.shown()) }, t("bulk.all"));
  if (chosen.length === 0) return selectAll;
  const on = chosen.filter((each) => !each.active);
  const off = chosen.filter((each) => each.active);
  const begin = (/** @type {Act} */ act, /** @type {any[]} */ records) => void doMany(kind, act, records, selection);
  const remove = async () => {
    const title = t(`bulk.remove.${kind}s`, { n: chosen.length });
    const text = t("bulk.remove.text", { names: named(kind, chosen) });
    if (await ask({ title, text, yes: t("remove"), no: t("cancel"), tone: "danger" })) begin("remove", chosen);
  };
  return [
    h(Button, { key: "on", icon: "Power", scope: write, reason: on.length ? undefined : t("bulk.on.none"), onClick: () => begin("on", on) }, t("bulk.on")),
    h(Button, { key: "off", icon: "PowerOff", scope: write, reason: off.length ? undefined : t("bulk.off.none"), onClick: () => begin("off", off) }, t("bulk.off")),
    h(Button, { key: "remove", icon: "Trash", scope: write, tone: "danger", onClick: () => void remove() }, t("remove")),
    selectAll,
    h(Button, { key: "none", icon: "X", tone: "quiet", onClick: () => selection.set([]) }, t("bulk.none")),
  ];
}

/** @param {{work: Work}} props */
function Working({ work: { act, all, left, stop } }) {
  const text = t(`bulk.${act}.working`, { n: all - left, all });
  return [
    h("span", { key: "text", class: "strip-working" }, text),
    h("progress", { key: "progress", class: "progress", max: all, value: all - left, "aria-label": text }),
    h(Button, { key: "stop", reason: stop.signal.aborted ? t("bulk.stopping") : undefined, onClick: stopWork }, t("bulk.stop")),
  ];
}

function stopWork() {
  work.value?.stop.abort();
  if (work.value) work.value = { ...work.value };
}

/**
 * @param {"logo" | "theme"} kind
 * @param {Act} act
 * @param {any[]} records
 * @param {{set: (ids: number[]) => void} | undefined} selection What could not be done stays selected.
 * @param {string[]} [before] The requests of a beginning that was stopped: one undo is for all.
 * @param {() => Promise<any>} [repeat]
 */
export async function doMany(kind, act, records, selection, before = [], repeat) {
  if (work.value) return;
  const stop = new AbortController();
  const progress = (/** @type {number} */ left) => (work.value = { act, all: records.length, left, stop });
  progress(records.length);
  let outcome;
  try {
    outcome = await writeMany(kind, records, CHANGES[act], { stop: stop.signal, step: progress, ...(repeat ? { repeat } : {}) });
  } finally {
    work.value = undefined;
  }
  const { changed, missing, left, failure } = outcome;
  const requestIds = [...before, ...outcome.requestIds];
  const { id } = KINDS[kind];
  selection?.set([...changed, ...left].map((record) => record[id]));
  const name = records.length === 1 ? nameOf(kind, records[0]) : undefined;
  if (requestIds.length > 0) sayDone(done(act, requestIds.length, name), requestIds, () => void readList(kind));
  if (changed.length > 0) say(t("bulk.changed", { n: changed.length, names: named(kind, changed) }), { tone: "failed" });
  if (missing.length > 0) say(t("elsewhere.removed", { n: missing.length, names: named(kind, missing) }), { tone: "failed" });
  if (failure) {
    // What repeats a read does not write.
    const run = () => void doMany(kind, act, left, selection, requestIds, failure.kind === "unknown" ? failure.repeat : undefined);
    const again = failure.passes ? { action: { text: t("tryAgain"), run } } : {};
    const withLeft = (/** @type {string} */ why) => (records.length === 1 ? why : t("bulk.failed", { n: left.length, why }));
    say(withLeft(describe(failure)), { tone: "failed", ...again, until: failure.until, words: (seconds) => withLeft(wordsOfWait(failure)(seconds)), reference: failure.reference });
  }
}

/** @param {Act} act @param {number} n @param {string | undefined} name */
const done = (act, n, name) => (n === 1 && name !== undefined ? t(`bulk.${act}.one`, { name }) : t(`bulk.${act}.done`, { n }));

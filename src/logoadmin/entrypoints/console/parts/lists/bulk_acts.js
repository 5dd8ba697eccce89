/** The actions for all selected records, with their progress. */
import { h, useState } from "../../vendor/preact.js";
import { say } from "../../notices.js";
import { statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Menu } from "../primitives/menu.js";
import { askWhy } from "../primitives/why.js";
import { ACTIONS, doMany } from "./bulk_actions.js";
import { BulkDialog } from "./bulk_dialogs.js";
import { MOST, work } from "./bulk_work.js";
import { named } from "./list_sync.js";

/** @typedef {import("./bulk_work.js").Action} Action */
/** @typedef {import("./bulk_work.js").Work} Work */

const ASKED = /** @type {const} */ (["target", "link", "unlink", "tag", "untag", "licence"]);
const loadKeep = withTexts(() => import("../pictures/bulk_keep.js"), "pictures");
const loadInline = withTexts(() => import("../css/bulk_inline.js"), "publication");
/** The most records that are switched off without a question. */
const UNASKED = 50;
const ICONS = /** @type {const} */ ({ target: "Globe", link: "UserPlus", unlink: "UserMinus", tag: "Tag", untag: "X", licence: "FileText" });

/** @param {{kind: "logo" | "theme", chosen: any[], artworks: any[], selection: import("./selection.js").Selection, busy: Work | undefined}} props */
export function BulkActs({ busy, ...props }) {
  return busy ? h(Working, { work: busy }) : h(Acts, props);
}

/** @param {{kind: "logo" | "theme", chosen: any[], artworks: any[], selection: import("./selection.js").Selection}} props */
function Acts({ kind, chosen, artworks, selection }) {
  const { write } = KINDS[kind];
  const [what, setWhat] = useState(/** @type {typeof ASKED[number] | undefined} */ (undefined));
  const { id } = KINDS[kind];
  const inactive = chosen.filter((each) => !each.active);
  // A block is lifted one by one, with a question.
  const on = inactive.filter((each) => !statesOf(kind, each[id]).blocked);
  const off = chosen.filter((each) => each.active);
  const activate = () => {
    begin(ACTIONS.on, on);
    if (on.length < inactive.length) say(t("bulk.on.blocked", { n: inactive.length - on.length }), { tone: "failed" });
  };
  const deactivate = async () => {
    const [title, text] = [t("bulk.off.ask", { n: off.length }), t("bulk.off.text")];
    const note = off.length <= UNASKED ? "" : await askWhy({ title, text, yes: t("bulk.off"), no: t("cancel") });
    if (note !== undefined) begin({ ...ACTIONS.off, note }, off);
  };
  const begin = (/** @type {Action} */ action, /** @type {any[]} */ records) => void doMany(kind, action, records, selection);
  const remove = async () => {
    const title = t(`bulk.remove.${kind}s`, { n: chosen.length });
    const text = t("bulk.remove.text", { names: named(kind, chosen) });
    const note = await askWhy({ title, text, yes: t("remove"), no: t("cancel"), tone: "danger" });
    if (note !== undefined) begin({ ...ACTIONS.remove, note }, chosen);
  };
  const keep = async () => {
    const module = await loadKeep().catch(() => undefined);
    if (module) void module.keepCopies(kind, chosen, selection);
    else say(t("failure.away"), { tone: "failed" });
  };
  const inline = async () => {
    const module = await loadInline().catch(() => undefined);
    if (module) void module.inlineMany(kind, chosen, selection);
    else say(t("failure.away"), { tone: "failed" });
  };
  return [
    h(Button, { key: "on", icon: "Power", scope: write, reason: on.length ? undefined : t(inactive.length ? "bulk.on.allBlocked" : "bulk.on.none"), onClick: activate }, t("bulk.on")),
    h(Button, { key: "off", icon: "PowerOff", scope: write, reason: off.length ? undefined : t("bulk.off.none"), onClick: () => void deactivate() }, t("bulk.off")),
    may(write) &&
      h(Menu, { key: "more", icon: "Pencil", label: t("bulk.edit") },
        ASKED.map((each) => h(Button, { key: each, tone: "quiet", icon: ICONS[each], onClick: () => setWhat(each) }, t(`bulk.${each}`))),
        h(Button, { key: "keep", tone: "quiet", icon: "CopyPlus", onClick: () => void keep() }, t("bulk.keep")),
        kind === "theme" && h(Button, { key: "inline", tone: "quiet", icon: "CopyPlus", onClick: () => void inline() }, t("bulk.inline")),
      ),
    h(Button, { key: "remove", icon: "Trash", scope: write, tone: "danger", onClick: () => void remove() }, t("remove")),
    h(Button, { key: "none", icon: "X", tone: "quiet", onClick: () => selection.set([]) }, t("bulk.none")),
    what && h(BulkDialog, { key: "dialog", what, chosen, artworks, begin, close: () => setWhat(undefined) }),
  ];
}

/** @param {{work: Work}} props */
function Working({ work: { act, all, left, stop } }) {
  const text = t(`bulk.${act}.working`, { n: all - left, all });
  return [
    h("span", { key: "text" }, text),
    h("progress", { key: "progress", class: "progress", max: all, value: all - left || undefined, "aria-label": text }),
    (left > MOST || act === "keep" || act === "inline") && h(Button, { key: "stop", reason: stop.signal.aborted ? t("bulk.stopping") : undefined, onClick: stopWork }, t("bulk.stop")),
  ];
}

function stopWork() {
  work.value?.stop.abort();
  if (work.value) work.value = { ...work.value };
}

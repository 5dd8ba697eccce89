/** The actions for all selected records, their dialogs and their progress. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { say } from "../../notices.js";
import { LICENCES, LONGEST_TAG, MOST_TAGS, namesOf, tagsIn, tagsOf } from "../../presentation.js";
import { statesOf } from "../../reader_states.js";
import { KINDS, listOf, readList } from "../../records.js";
import { may } from "../../session.js";
import { byName, t, withTexts } from "../../texts.js";
import { Button, Form } from "../primitives/basics.js";
import { Dialog } from "../primitives/dialog.js";
import { TextField, useText } from "../primitives/fields.js";
import { Menu } from "../primitives/menu.js";
import { askWhy, DialogEnd, Why } from "../primitives/form_dialog.js";
import { MOST, work } from "./selection.js";
import { Pick } from "./toolbar.js";
import { ACTIONS, doMany } from "./bulk_run.js";

/** @typedef {import("./selection.js").Action} Action */
/** @typedef {import("./selection.js").Work} Work */

const ASKED = /** @type {const} */ (["target", "link", "unlink", "tag", "untag", "licence"]);
const loadFetching = withTexts(() => import("./bulk_fetch.js"));
/** The most records that are switched off without a question. */
const UNASKED = 50;
const ICONS = /** @type {const} */ ({ target: "Globe", link: "UserPlus", unlink: "UserMinus", tag: "Tag", untag: "X", licence: "FileText" });

/** @param {{kind: "logo" | "theme", chosen: any[], artworks: any[], selection: ListSelection, busy: Work | undefined}} props */
export function BulkActs({ busy, ...props }) {
  return busy ? h(Working, { work: busy }) : h(Acts, props);
}

/** @param {{kind: "logo" | "theme", chosen: any[], artworks: any[], selection: ListSelection}} props */
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
    const text = t("bulk.remove.text", { names: namesOf(kind, chosen) });
    const note = await askWhy({ title, text, yes: t("remove"), no: t("cancel"), tone: "danger" });
    if (note !== undefined) begin({ ...ACTIONS.remove, note }, chosen);
  };
  const fetchAll = async (/** @type {"keep" | "inline"} */ act) => {
    const module = await loadFetching().catch(() => undefined);
    if (module) void module.fetchMany(act, kind, chosen, selection);
    else say(t("failure.away"), { tone: "failed" });
  };
  return [
    h(Button, { key: "on", icon: "Power", scope: write, reason: on.length ? undefined : t(inactive.length ? "bulk.on.allBlocked" : "bulk.on.none"), onClick: activate }, t("bulk.on")),
    h(Button, { key: "off", icon: "PowerOff", scope: write, reason: off.length ? undefined : t("bulk.off.none"), onClick: () => void deactivate() }, t("bulk.off")),
    may(write) &&
      h(Menu, { key: "more", icon: "Pencil", label: t("bulk.edit") },
        ASKED.map((each) => h(Button, { key: each, tone: "quiet", icon: ICONS[each], onClick: () => setWhat(each) }, t(`bulk.${each}`))),
        h(Button, { key: "keep", tone: "quiet", icon: "CopyPlus", onClick: () => void fetchAll("keep") }, t("bulk.keep")),
        kind === "theme" && h(Button, { key: "inline", tone: "quiet", icon: "CopyPlus", onClick: () => void fetchAll("inline") }, t("bulk.inline")),
      ),
    h(Button, { key: "remove", icon: "Trash", scope: write, tone: "danger", onClick: () => void remove() }, t("remove")),
    h(Button, { key: "none", icon: "X", tone: "quiet", onClick: () => selection.set([]) }, t("bulk.none")),
    what && h(BulkDialog, { key: "dialog", what, kind, chosen, artworks, begin, close: () => setWhat(undefined) }),
  ];
}

/** @param {{work: Work}} props */
function Working({ work: { act, all, left, stop } }) {
  const text = t("bulk.working", { what: t(act === "remove" ? "remove" : `bulk.${act}`), n: all - left, all });
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

/** @typedef {typeof ASKED[number]} Asked */

/** Dialogs for changing the target, the authors, the tags or the licence of many records. @param {{what: Asked, kind: "logo" | "theme", chosen: any[], artworks: any[], begin: (action: Action, records: any[]) => void, close: () => void}} props `artworks`: all that the list has. */
function BulkDialog({ what, kind, chosen, artworks, begin, close }) {
  const { text, refuse } = useText();
  const { value } = text;
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [note, setNote] = useState("");
  const { records: authors } = listOf("author").value;
  useEffect(() => void readList("author"), []);
  const submit = () => {
    const problem = what === "tag" ? problemOfTags(tagsIn(value), kind, chosen) : "";
    refuse(problem);
    if (problem) return field.current?.focus();
    const { values, needs, change } = doing(what, value.trim(), authors ?? []);
    const records = chosen.filter(needs);
    close();
    if (records.length > 0) begin({ act: what, values, change: (record) => ({ set: change(record) }), note: note.trim() }, records);
  };
  return h(Dialog, { title: t("bulk.title", { what: t(`bulk.${what}`), n: chosen.length }), close },
    h(Form, { noValidate: false, send: submit },
      h(Value, { what, text, field, choices: choicesFor(what, chosen, artworks, authors ?? []) }),
      h(Why, { value: note, change: setNote }),
      h(DialogEnd, { close, yes: t(`bulk.${what}`), idle: value.trim() === "" }),
    ),
  );
}

const LABELS = /** @type {const} */ ({ target: "field.target", link: "author.title", unlink: "author.title", licence: "field.details_licence", tag: "field.details_tags", untag: "bulk.untag.which" });
/** What may be something else than what is known. */
const LONGEST = { target: 64, licence: 64, tag: 329 };

/** @param {string[]} tags @param {"logo" | "theme"} kind @param {any[]} chosen @returns {string} why they cannot have these tags as well, if so */
function problemOfTags(tags, kind, chosen) {
  const long = tags.findIndex((tag) => [...tag].length > LONGEST_TAG);
  if (long >= 0) return t("problem.item", { n: long + 1, problem: t("problem.most", { n: LONGEST_TAG }) });
  const full = chosen.filter((record) => new Set([...tagsOf([record]), ...tags]).size > MOST_TAGS);
  return full.length > 0 ? t("bulk.tag.many", { n: MOST_TAGS, names: namesOf(kind, full) }) : "";
}

/** Chosen from a list, or typed. @param {{what: Asked, text: ReturnType<typeof useText>["text"], field: {current: any}, choices: [string, string][]}} props */
function Value({ what, text, field, choices }) {
  const list = useId();
  const label = t(LABELS[what]);
  if (!(what in LONGEST)) return h(Pick, { label, value: text.value, choices: [["", t(what === "untag" ? "bulk.untag.choose" : "bulk.author.choose")], ...choices], pick: text.set, required: true });
  return [
    h(TextField, { key: "field", label, ...text, field, hint: what === "tag" && t("bulk.tag.hint"), list, maxLength: LONGEST[/** @type {keyof typeof LONGEST} */ (what)], required: true, spellcheck: false }),
    h("datalist", { key: "known", id: list }, choices.map(([each]) => h("option", { key: each, value: each, dir: "auto" }))),
  ];
}

/** @param {Asked} what @param {any[]} chosen @param {any[]} artworks @param {any[]} authors @returns {[string, string][]} what is known, and how it is called */
function choicesFor(what, chosen, artworks, authors) {
  if (what === "link" || what === "unlink") {
    const found = what === "link" ? authors : [...new Map(chosen.flatMap((record) => record.authors).map((author) => [author.author_id, author])).values()];
    return found.toSorted((a, b) => byName(a.username, b.username)).map(({ author_id: id, username }) => [String(id), username]);
  }
  const targets = () => [...new Set(artworks.map((record) => record.target))].sort(byName);
  const known = { target: targets, licence: () => LICENCES, tag: () => tagsOf(artworks), untag: () => tagsOf(chosen) }[what]();
  return known.map((each) => [each, each]);
}

/** @typedef {{values: Record<string, string>, needs: (record: any) => boolean, change: (record: any) => Record<string, unknown>}} Doing `needs`: whether it is not so already. */

/** @param {Asked} what @param {string} value @param {any[]} authors @returns {Doing} */
function doing(what, value, authors) {
  if (what === "target") return { values: { target: value }, needs: (record) => record.target !== value, change: () => ({ target: value }) };
  if (what === "licence") return { values: { licence: value }, needs: ({ details }) => details?.licence !== value, change: () => ({ details: { licence: value } }) };
  if (what === "link" || what === "unlink") {
    const authorId = Number(value);
    const idsOf = (/** @type {any} */ record) => /** @type {number[]} */ (record.authors.map((/** @type {any} */ each) => each.author_id));
    const author = authors.find((each) => each[KINDS.author.id] === authorId)?.username ?? value;
    return {
      values: { author },
      needs: (record) => idsOf(record).includes(authorId) === (what === "unlink"),
      change: (record) => ({ author_ids: [...idsOf(record).filter((id) => id !== authorId), ...(what === "link" ? [authorId] : [])] }),
    };
  }
  const tags = tagsIn(value);
  const before = (/** @type {any} */ { details }) => /** @type {string[]} */ (details?.tags ?? []);
  return {
    values: { tag: tags.join(", ") },
    needs: (record) => tags.some((tag) => before(record).includes(tag) === (what === "untag")),
    change: (record) => ({ details: { tags: what === "tag" ? [...new Set([...before(record), ...tags])] : before(record).filter((tag) => !tags.includes(tag)) } }),
  };
}

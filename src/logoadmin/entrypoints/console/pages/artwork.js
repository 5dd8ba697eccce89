/** One logo or theme, or a new one: its fields, its CSS, how the site will look with it, who made it, and its history. */
import { h, useMemo, useState } from "../vendor/preact.js";
import { authorStep, knowAuthors } from "../parts/artwork/authorship.js";
import { KINDS, listOf, readList } from "../records.js";
import { may } from "../session.js";
import { byName, t, withTexts } from "../texts.js";
import { AuthorsField } from "../parts/artwork/authors_field.js";
import { Button, pictureUrl } from "../parts/primitives/basics.js";
import { cssWidget } from "../parts/css/css_editor.js";
import { judgedOf, listedIn, useJudgement } from "../parts/css/judged.js";
import { Text, widgets } from "../parts/primitives/fields.js";
import { lazy } from "../parts/primitives/lazy.js";
import { Picture } from "../parts/primitives/picture.js";
import { Preview, previewed } from "../parts/css/css_preview.js";
import { RecordHistory } from "../parts/history/record_history.js";
import { RecordPage } from "../parts/record/record_page.js";

/** @typedef {"logo" | "theme"} ArtworkKind */
/** @typedef {import("../parts/primitives/fields.js").WidgetProps} WidgetProps */

const CSS_WIDGETS = { logo: cssWidget("declarations"), theme: cssWidget("sheet") };
const TARGETS = { logo: target("logo"), theme: target("theme") };
const Verdict = lazy(() => import("../parts/css/css_verdict.js").then((module) => module.CssVerdict));
const Blocked = lazy(withTexts(() => import("../parts/publication/blocked.js").then((module) => module.Blocked), "publication"));
const RecordState = lazy(withTexts(() => import("../parts/publication/record_state.js").then((module) => module.RecordState), "publication"));
const BlockDialog = lazy(withTexts(() => import("../parts/publication/block_dialog.js").then((module) => module.BlockDialog), "publication"));
const PictureSource = lazy(withTexts(() => import("../parts/pictures/picture_source.js").then((module) => module.PictureSource), "pictures"));
widgets.authors = AuthorsField;
widgets.url = PictureAddress;

/** @param {{kind: ArtworkKind, recordId: string | undefined}} props */
export function ArtworkPage({ kind, recordId }) {
  // The same form for both, but for what is special to one.
  widgets.css = CSS_WIDGETS[kind];
  widgets.target = TARGETS[kind];
  const id = recordId === undefined ? undefined : Number(recordId);
  return h(RecordPage, {
    kind,
    recordId,
    list: `${kind}s`,
    newTitle: t(`${kind}s.new`),
    next: authorStep,
    actions: (editing) => id !== undefined && h(Block, { key: "block", kind, id, editing }),
    state: (editing) => may(KINDS[kind].write) && id !== undefined && (editing.record.value.active ? h(RecordState, { kind, id, record: editing.record.value }) : h(Blocked, { kind, editing })),
    preview: (form, record, again) => {
      const saved = String(record?.custom_css ?? "");
      const css = String(form.values.value["custom_css"] ?? "");
      return (css || saved) && h(Verdict, { kind, recordId: id, css, saved, changed: again });
    },
    aside: (form, record) => {
      const { custom_css: css = "", target = "", preview_url: picture = "" } = /** @type {Record<string, string>} */ (form.values.value);
      const copy = previewed.value?.kind === kind && previewed.value.id === id ? previewed.value : undefined;
      return h(Judging, { kind, id, css, saved: String(record?.custom_css ?? ""), copy, target, picture });
    },
    children: (/** @type {any} */ record) => {
      knowAuthors(record);
      return id !== undefined && record && h(RecordHistory, { kind, recordId: id, since: record });
    },
  });
}

/**
 * The preview, with the hosts that the service found in the same text.
 *
 * @param {{kind: ArtworkKind, id: number | undefined, css: string, saved: string, copy: {css: string, hosts: string[]} | undefined, target: string, picture: string}} props
 */
function Judging({ kind, id, css, saved, copy, target, picture }) {
  useJudgement(kind, id, css, saved);
  const { verdict } = judgedOf(kind, id);
  return h(Preview, { kind, css: copy?.css ?? css, target, picture, listed: copy?.hosts ?? (verdict && listedIn(verdict)) });
}

/** Takes it from readers at once, which switching off does not. @param {{kind: ArtworkKind, id: number, editing: import("../parts/record/editing.js").Editing}} props */
function Block({ kind, id, editing }) {
  const [isAsking, setAsking] = useState(false);
  return [
    h(Button, { key: "button", tone: "danger", icon: "Ban", scope: KINDS[kind].write, idle: editing.isBusy.value, onClick: () => setAsking(true) }, t("block")),
    isAsking && h(BlockDialog, { key: "dialog", kind, id, editing, close: () => setAsking(false) }),
  ];
}

/** The address of a picture, with the picture. @param {WidgetProps} props */
function PictureAddress(props) {
  const url = String(props.form.values.value[props.field.name] ?? "");
  return h(
    "div",
    { class: "picture-field" },
    h(Text, props),
    h(PictureSource, props),
    h("div", { class: "picture-shown" }, pictureUrl(url) ? h(Picture, { key: url, url }) : h("div", { class: "picture missing" }, t("picture.none"))),
  );
}

/**
 * The part of the site that it is for; those that there are already are offered.
 * @param {ArtworkKind} kind
 */
function target(kind) {
  return function Target(/** @type {WidgetProps} */ props) {
    const { records } = listOf(kind).value;
    const known = useMemo(() => [...new Set(records?.map((each) => each.target))].toSorted(byName), [records]);
    const id = `${props.id}-known`;
    // The list is long: it is read when the field gets focus, unless it is loaded already.
    const onFocusIn = () => void (records ?? readList(kind));
    return h("div", { onFocusIn }, h(Text, { ...props, list: id }), h("datalist", { id }, known.map((each) => h("option", { key: each, value: each }))));
  };
}

/** The form of a logo or theme: the widgets of its fields, and the preview beside it. */
import { h, useMemo } from "../../vendor/preact.js";
import { listOf, readList } from "../../records.js";
import { shared, useShared } from "../../shared_settings.js";
import { byName, withTexts } from "../../texts.js";
import { cssWidget } from "../css/css_editor.js";
import { Preview } from "../css/css_preview.js";
import { judgedOf, listedIn, useJudgement } from "../css/judged.js";
import { Text, widgets } from "../primitives/fields.js";
import { lazy } from "../primitives/lazy.js";
import { Picture } from "../primitives/picture.js";
import { AuthorsField } from "./authors_field.js";
import "./details_fields.js";
import { LogoCss } from "./logo_css.js";
import { UserStyle } from "./user_style.js";

/** @typedef {"logo" | "theme"} ArtworkKind */
/** @typedef {import("../primitives/fields.js").WidgetProps} WidgetProps */

const Sheet = cssWidget("sheet");
const CSS_WIDGETS = { logo: LogoCss, theme: ThemeCss };
const TARGETS = { logo: target("logo"), theme: target("theme") };
const PictureSource = lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.PictureSource), "pictures"));
export const Verdict = lazy(() => import("../css/css_verdict.js").then((module) => module.CssVerdict));
widgets.authors = AuthorsField;
widgets.url = PictureAddress;

/** Draw the next form as that of this kind: it is the same for both, but for what is special to one. @param {ArtworkKind} kind */
export function useWidgets(kind) {
  widgets.css = CSS_WIDGETS[kind];
  widgets.target = TARGETS[kind];
}

/** The CSS of a theme, which may come as a user style. @param {WidgetProps} props */
function ThemeCss(props) {
  return [h(Sheet, { key: "sheet", ...props }), h(UserStyle, { key: "style", form: props.form, disabled: props.disabled })];
}

/**
 * The preview, with the hosts that the service found in the same text.
 *
 * @param {{kind: ArtworkKind, id: number | undefined, css: string, saved: {css: string, target: string}, target: string, picture: string}} props
 */
export function Judging({ kind, id, css, saved, target, picture }) {
  useJudgement(kind, id, css, target, saved);
  const { verdict } = judgedOf(kind, id);
  return h(Preview, { kind, css, target, picture, listed: verdict && listedIn(verdict) });
}

/** The address of a picture, with the picture. @param {WidgetProps} props */
function PictureAddress(props) {
  const { form, field, disabled } = props;
  const url = String(form.values.value[field.name] ?? "");
  return h("div", { class: "picture-field" },
    h(Text, props),
    h(PictureSource, { value: url, set: (/** @type {string} */ kept) => form.set(field.name, kept), disabled }),
    h("div", { class: "picture-shown" }, h(Picture, { key: url, url })),
  );
}

/** The part of the site that it is for: one of the described targets or any host; without targets, those of other works are offered. @param {ArtworkKind} kind */
function target(kind) {
  return function Target(/** @type {WidgetProps} */ props) {
    const { records } = listOf(kind).value;
    useShared();
    const described = Object.entries(shared.value?.gallery_targets ?? {});
    const known = useMemo(() => [...new Set(records?.map((each) => each.target))].toSorted(byName), [records]);
    const offered = described.length ? described.map(([value, { name }]) => ({ value, label: String(name) })) : known.map((value) => ({ value, label: value }));
    const id = `${props.id}-known`;
    // The list is long: it is read when the field gets focus, unless it is loaded already.
    const onFocusIn = () => void (described.length || records || readList(kind));
    return h("div", { onFocusIn }, h(Text, { ...props, list: id }), h("datalist", { id }, offered.map(({ value, label }) => h("option", { key: value, value, label }))));
  };
}

/** The form of a logo or theme: the widgets of its fields, and the preview beside it. */
import { h, useMemo, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { describe } from "../../notices.js";
import { listOf, readList } from "../../records.js";
import { shared, useShared } from "../../shared_settings.js";
import { byName, enumeration, t, withTexts } from "../../texts.js";
import { cssWidget } from "../css/css_editor.js";
import { judgedOf, listedIn, Preview, useJudgement } from "../css/css_preview.js";
import { Button, lazy } from "../primitives/basics.js";
import { useRun } from "../primitives/hooks.js";
import { Text, widgets, words } from "../primitives/fields.js";
import { FileButton, useGivenFiles } from "../primitives/files.js";
import { Picture } from "../primitives/picture.js";
import { AuthorsField } from "./authors_field.js";
import "./details_fields.js";
import { LogoCss } from "./logo_css.js";

const Sheet = cssWidget("sheet");
export const PictureSource = lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.PictureSource)));
export const Verdict = lazy(() => import("../css/css_verdict.js").then((module) => module.CssVerdict));
Object.assign(widgets, { authors: AuthorsField, url: PictureAddress, css: Css, target: Target });

/** @param {WidgetProps} props */
function Css(props) {
  return h(props.form.kind === "theme" ? ThemeCss : LogoCss, props);
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

/** The part of the site that it is for: one of the described targets or any host; without targets, those of other works are offered. @param {WidgetProps} props */
function Target(props) {
  const kind = /** @type {ArtworkKind} */ (props.form.kind);
  const { records } = listOf(kind).value;
  useShared();
  const described = Object.entries(shared.value?.gallery_targets ?? {});
  const known = useMemo(() => [...new Set(records?.map((each) => each.target))].toSorted(byName), [records]);
  const offered = described.length ? described.map(([value, { name }]) => ({ value, label: String(name) })) : known.map((value) => ({ value, label: value }));
  const id = `${props.id}-known`;
  // The list is long: it is read when the field gets focus, unless it is loaded already.
  const onFocusIn = () => void (described.length || records || readList(kind));
  return h("div", { onFocusIn }, h(Text, { ...props, list: id }), h("datalist", { id }, offered.map(({ value, label }) => h("option", { key: value, value, label }))));
}

/** @typedef {{filled: string[], lost: (() => string)[], before: import("../../form.js").Values} | {problem: () => string}} Outcome Its fields, and its sentences in whatever language. */

const STYLE = /^\ufeff?\s*\/\*!?\s*==UserStyle==/i;
/** What the service says about what could not be kept, and our words for it. @type {[RegExp, TextKey][]} */
const LOST = [
  [/^@(\S+) is not kept\.$/, "style.lost.key"],
  [/^@(\S+) is left out: .*$/, "style.lost.value"],
  [/^@\S+ (\S+) is not understood and left out\.$/, "style.lost.variable"],
  [/^Of the settings of the style .*: (.*)\.$/, "style.lost.settings"],
  [/^The conditions of @-moz-document in line (\d+) cannot be read\.$/, "style.lost.line"],
];

/** @param {string} sentence Of the service. @returns {string} */
function lostWords(sentence) {
  for (const [pattern, key] of LOST) {
    const found = pattern.exec(sentence);
    if (found) return t(key, { what: found[1] ?? "" });
  }
  return sentence;
}

/** @param {Failure} error @returns {string} */
function problemWords(error) {
  const [problem] = error.problems;
  const compiler = /preprocessor (.+?): compile/.exec(problem?.msg ?? "")?.[1];
  return compiler ? t("style.preprocessor", { name: compiler }) : (problem?.msg ?? describe(error));
}

/** @param {readonly string[]} names @returns {Promise<{known: number[], missing: string[]}>} the authors of the gallery with these names */
async function authorsNamed(names) {
  if (names.length > 0) await readList("author");
  const ids = new Map(listOf("author").value.records?.map(({ username, author_id: id }) => [username, id]));
  return { known: names.flatMap((name) => ids.get(name) ?? []), missing: names.filter((name) => !ids.has(name)) };
}

/** Fill a form. @param {FormState} form @param {string} text @returns {Promise<Outcome>} */
async function fill(form, text) {
  const before = form.values.value;
  const set = (/** @type {Record<string, unknown>} */ values) => {
    const filled = Object.keys(values).filter((name) => form.fields.some((field) => field.name === name) && values[name] !== null);
    for (const name of filled) form.set(name, values[name]);
    return filled;
  };
  if (!STYLE.test(text)) return { filled: set({ custom_css: text }), lost: [], before };
  const { data } = await call("post", "/api/css/user-style", { body: { text } });
  // Submitters are the authors themselves.
  const { known, missing } = await authorsNamed(form.fields.some(({ name }) => name === "authors") ? data.authors : []);
  const details = Object.fromEntries(Object.entries(data.details).map(([name, value]) => [`details.${name}`, value]));
  /** @type {(() => string)[]} */
  const lost = data.lost.map((sentence) => () => lostWords(sentence));
  if (missing.length > 0) lost.push(() => t("style.lost.authors", { names: enumeration(missing) }));
  if (data.target === null) lost.push(() => data.documents.length > 0 ? t("style.lost.target", { documents: data.documents.join(", ") }) : t("style.lost.documents"));
  const filled = set({ name: data.name, target: data.target, authors: known.length > 0 ? known : null, ...details, custom_css: data.custom_css });
  return { filled, lost, before };
}

/** A user style (contract S3) that is pasted or dropped into the form of a theme, or chosen as a file, fills its fields. @param {{form: FormState, disabled: boolean}} props */
export function UserStyle({ form, disabled }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [outcome, setOutcome] = useState(/** @type {Outcome | undefined} */ (undefined));
  const { busy, run } = useRun({
    after: () => place.current?.scrollIntoView({ block: "nearest" }),
    failed: (failure) => setOutcome({ problem: () => problemWords(failure) }),
  });
  const take = (/** @type {File} */ file) => void run(async () => setOutcome(await fill(form, await file.text())));
  useGivenFiles(place, { within: "form", accepts: (type) => type === "text/css", pasted: styleIn, take: disabled ? undefined : take });
  if (disabled) return null;
  const putBack = (/** @type {import("../../form.js").Values} */ before) => {
    form.values.value = before;
    setOutcome(undefined);
  };
  return h("div", { ref: place, class: "stack tight" },
    h("div", { class: "cluster" },
      h(FileButton, { accept: ".css,text/css", busy: busy !== "", take }, t("style.choose")),
      h("span", { class: "hint" }, t("style.drop")),
    ),
    h("div", { role: "status" },
      outcome && "problem" in outcome && h("p", { class: "problem", dir: "auto" }, outcome.problem()),
      outcome && "filled" in outcome &&
        h("div", { class: "box panel stack" },
          h("p", null, t("style.filled", { fields: enumeration(outcome.filled.map((name) => words(name, "label"))) })),
          outcome.lost.length > 0 && h("ul", { class: "style-lost" }, outcome.lost.map((sentence, at) => h("li", { key: at, dir: "auto" }, sentence()))),
          h("div", { class: "cluster" }, h(Button, { icon: "Undo2", onClick: () => putBack(outcome.before) }, t("undo"))),
        ),
    ),
  );
}

/** @param {DataTransfer} data Of the clipboard. @returns {File | undefined} the user style in it */
function styleIn(data) {
  const text = data.getData("text/plain");
  return STYLE.test(text) ? new File([text], "") : undefined;
}

/** The form as submitters see it: it begins with the picture, and the target is chosen among those of the gallery. */
import { h, useState } from "../../vendor/preact.js";
import { shared } from "../../shared_settings.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";
import { Text, widgets, words } from "../primitives/fields.js";
import { lazy } from "../primitives/lazy.js";
import { ownPicture } from "../primitives/own_picture.js";
import { Picture } from "../primitives/picture.js";

/** @typedef {import("../primitives/fields.js").WidgetProps} WidgetProps */

const PictureSource = lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.PictureSource), "pictures"));
/** The fields in sight, in their order; the CSS of a logo is written from its picture. */
const FIRST = ["preview_url", "name", "target", "details.description", "details.licence", "details.tags", "custom_css"];
/** @type {Record<string, import("../../presentation.js").Widget>} */
const WIDGETS = { preview_url: "drop", target: "choice" };
Object.assign(widgets, { drop: PictureDrop, choice: TargetChoice });

/** @param {import("../../form.js").Field[]} fields Of an artwork. @returns {import("../../form.js").Field[]} as submitters see them */
export function forSubmitters(fields) {
  const rank = (/** @type {string} */ name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return fields.map((field) => ({ ...field, widget: WIDGETS[field.name] ?? field.widget, isRare: !FIRST.includes(field.name) })).toSorted((a, b) => rank(a.name) - rank(b.name));
}

/** @returns {string | undefined} the only target there is, which nobody has to choose */
export function onlyTarget() {
  const [first, ...others] = Object.keys(shared.value?.gallery_targets ?? {});
  return others.length === 0 ? first : undefined;
}

/** A large place for the picture, which takes files that are dropped anywhere on the form. @param {WidgetProps} props */
function PictureDrop(props) {
  const { form, field, describedBy, disabled } = props;
  const url = String(form.values.value[field.name] ?? "");
  const isOwn = ownPicture(url) !== undefined;
  const [isGiven, setGiven] = useState(url !== "");
  return h("div", { class: "picture-drop", role: "group", "aria-label": words(field.name, "label"), "aria-describedby": describedBy },
    url ? h(Picture, { key: url, url }) : h(Icon, { name: "Image" }),
    h(PictureSource, { value: url, set: (/** @type {string} */ kept) => form.set(field.name, kept), disabled, within: "form" }),
    !isOwn && (isGiven ? h(Text, props) : h(Button, { tone: "quiet", onClick: () => setGiven(true) }, t("submit.picture.address"))),
  );
}

/** @param {WidgetProps} props */
function TargetChoice(props) {
  const { form, field, id, describedBy, disabled } = props;
  const value = String(form.values.value[field.name] ?? "");
  const described = Object.entries(shared.value?.gallery_targets ?? {}).map(([name, target]) => [name, String(/** @type {any} */ (target).name)]);
  const Otherwise = widgets.target ?? Text;
  if (described.length === 0) return h(Otherwise, props);
  // Any host may be one as well: that of a user style, or of an earlier version.
  const offered = described.some(([name]) => name === value) ? described : [[value, value || t("submit.target.choose")], ...described];
  return h(
    "select",
    {
      id,
      class: "input",
      name: field.name,
      value,
      disabled,
      required: true,
      "aria-invalid": Boolean(form.problems.value[field.name]),
      "aria-describedby": describedBy,
      onChange: (/** @type {any} */ event) => form.set(field.name, event.currentTarget.value),
    },
    offered.map(([name, label]) => h("option", { key: name, value: name }, label)),
  );
}

/** What the gallery asks of submissions, and of their pictures. @param {{kind: "logo" | "theme"}} props */
export const Rules = ({ kind }) =>
  h("details", { class: "box panel submit-rules", open: matchMedia("(width >= 1100px)").matches },
    h("summary", null, t("submit.rules")),
    shared.value?.submission_rules && h("p", { class: "rules", dir: "auto" }, shared.value.submission_rules),
    h("p", { class: "hint" }, t("submit.pictures")),
    h("p", { class: "hint" }, t(`submit.pictures.${kind}`)),
  );

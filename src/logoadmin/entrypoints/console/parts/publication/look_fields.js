/** The fields of the gallery's look: its mark and its accent (contract J8). */
import { h } from "../../vendor/preact.js";
import { thumbnailOf } from "../../look.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Text, widgets } from "../primitives/fields.js";
import { lazy } from "../primitives/lazy.js";
import { ownPicture } from "../primitives/own_picture.js";
import { Picture } from "../primitives/picture.js";

/** @typedef {import("../primitives/fields.js").WidgetProps} WidgetProps */

/** Of the samples. */
const THEMES = /** @type {const} */ (["light", "dark"]);

const PictureSource = lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.PictureSource), "pictures"));

/** A picture that is uploaded, by its hash. @param {WidgetProps} props */
function MarkField({ form, field, id, disabled }) {
  const mark = String(form.values.value[field.name] ?? "");
  const url = mark && thumbnailOf(mark);
  return h("div", { class: "mark-field" },
    mark && h(Picture, { url }),
    h(PictureSource, { id, value: url, set: (/** @type {string} */ sent) => form.set(field.name, ownPicture(sent)?.picture ?? null), disabled }),
    mark && !disabled && h(Button, { onClick: () => form.set(field.name, null) }, t("settings.mark.remove")),
  );
}

/** A colour, and what becomes of it in both themes. @param {WidgetProps} props */
function AccentField(props) {
  const { form, field, disabled } = props;
  const accent = String(form.values.value[field.name] ?? "");
  const chosen = /^#[0-9a-f]{6}$/i.test(accent) ? accent : "";
  return h("div", { class: "cluster" },
    h("input", {
      type: "color",
      class: "colour",
      value: chosen || "#4453b7",
      disabled,
      "aria-label": t("settings.accent.choose"),
      onInput: (/** @type {InputEvent} */ event) => form.set(field.name, /** @type {HTMLInputElement} */ (event.currentTarget).value),
    }),
    h(Text, props),
    THEMES.map((theme) =>
      h("span", { key: theme, class: "box accented accent-sample", "data-theme": theme, style: { "--chosen": chosen } },
        h("span", { class: "button primary" }, t(`theme.${theme}`)),
        h("span", { class: "accent-text" }, t("settings.accent.link")),
      ),
    ),
  );
}

Object.assign(widgets, { mark: MarkField, colour: AccentField });

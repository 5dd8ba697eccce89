/** The pictures of an artwork in their order, each with what it shows in words (contract S1). */
import { h } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { IconButton } from "../primitives/basics.js";
import { Picture } from "../primitives/picture.js";
import { PictureSource } from "./picture_source.js";

/** @typedef {{url: string, alt?: string}} Screenshot */

const MOST = 8;
const LONGEST_ALT = 200;

/** @param {import("../primitives/fields.js").WidgetProps} props */
export function Screenshots({ form, field, id, disabled }) {
  const all = /** @type {Screenshot[]} */ (form.values.value[field.name]);
  const set = (/** @type {Screenshot[]} */ shots) => form.set(field.name, shots);
  const describe = (/** @type {number} */ at, /** @type {string} */ alt) => set(all.map((each, n) => (n === at ? { url: each.url, ...(alt ? { alt } : {}) } : each)));
  const move = (/** @type {number} */ at, /** @type {number} */ to) => set(all.toSpliced(at, 1).toSpliced(to, 0, ...all.slice(at, at + 1)));
  const button = (/** @type {"up" | "down" | "take"} */ what, /** @type {"ArrowUp" | "ArrowDown" | "X"} */ icon, /** @type {number} */ at, /** @type {boolean} */ isOff, /** @type {() => void} */ run) =>
    h(IconButton, { icon, disabled: isOff, label: t(`screenshots.${what}`, { n: at + 1 }), onClick: run });
  return h("div", { class: "stack" },
    all.length > 0 &&
      h("ol", { class: "box divided" },
        all.map(({ url, alt = "" }, at) =>
          h("li", { key: url, class: "screenshot" },
            h(Picture, { url, alt }),
            h("input", {
              class: "input",
              value: alt,
              maxLength: LONGEST_ALT,
              disabled,
              dir: "auto",
              placeholder: t("screenshots.alt"),
              "aria-label": t("screenshots.alt.of", { n: at + 1 }),
              onInput: (/** @type {InputEvent} */ event) => describe(at, /** @type {HTMLInputElement} */ (event.currentTarget).value),
            }),
            !disabled &&
              h("span", { class: "author-buttons" },
                button("up", "ArrowUp", at, at === 0, () => move(at, at - 1)),
                button("down", "ArrowDown", at, at === all.length - 1, () => move(at, at + 1)),
                button("take", "X", at, false, () => set(all.toSpliced(at, 1))),
              ),
          ),
        ),
      ),
    all.length < MOST && h(PictureSource, { id, value: "", disabled, set: (/** @type {string} */ url) => set(all.some((each) => each.url === url) ? all : [...all, { url }]) }),
    disabled && all.length === 0 && h("p", { class: "hint" }, t("none")),
  );
}

/** The reason for a change, which the history keeps; nobody has to give one. */
import { h, useId } from "../../vendor/preact.js";
import { t } from "../../texts.js";

/** @param {{value: string, change: (value: string) => void}} props */
export function Why({ value, change }) {
  const id = useId();
  return h(
    "div",
    { class: "field why" },
    h("label", { class: "label", for: id }, t("record.why")),
    h("input", { id, class: "input", dir: "auto", autocomplete: "off", maxLength: 200, value, onInput: (/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.currentTarget).value) }),
  );
}

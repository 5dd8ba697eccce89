/** The reason for a change, which the history keeps; nobody has to give one. */
import { h, useId, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { ask } from "./dialog.js";

/** @param {{value: string, change: (value: string) => void}} props */
export function Why({ value, change }) {
  const id = useId();
  return h("div", { class: "field why" },
    h("label", { class: "label", for: id }, t("record.why")),
    h("input", { id, class: "input", dir: "auto", autocomplete: "off", maxLength: 200, value, onInput: (/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.currentTarget).value) }),
  );
}

/** Ask a question, with a field for the reason. @param {import("./dialog.js").Question} question @returns {Promise<string | undefined>} the reason, which may be empty; none if the answer is no */
export async function askWhy(question) {
  const reason = { note: "" };
  const isMeant = await ask({ ...question, field: h(Reason, { reason }) });
  return isMeant ? reason.note.trim() : undefined;
}

/** @param {{reason: {note: string}}} props Where it is written. */
function Reason({ reason }) {
  const [value, setValue] = useState("");
  const change = (/** @type {string} */ text) => {
    reason.note = text;
    setValue(text);
  };
  return h(Why, { value, change });
}

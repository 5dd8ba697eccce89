/** Questions that must be answered before one goes on, in the browser's own dialog: it keeps the focus and Escape. */
import { h, signal, useId, useLayoutEffect, useRef } from "../../vendor/preact.js";

/**
 * @typedef {object} Question
 * @property {string} title
 * @property {string} text
 * @property {string[]} [list] What it is about, one by one.
 * @property {any} [field] What may be filled in.
 * @property {string} yes
 * @property {string} no
 * @property {string} [other] A third answer between them.
 * @property {"danger" | "primary"} [tone] Of the yes.
 *
 * @typedef {"yes" | "no" | "other"} Answer
 */

/** @type {Signal<{question: Question, answer: (answer: Answer) => void, gone: () => void} | undefined>} */
const asked = signal(undefined);

/** @param {Question} question @returns {Promise<boolean>} */
export const ask = async (question) => (await choose(question)) === "yes";

/** @param {Question} question @returns {Promise<Answer>} once the dialog is gone, and the focus is back where it was */
export function choose(question) {
  asked.value?.answer("no");
  /** @type {Answer} */
  let given = "no";
  return new Promise((done) => {
    const answer = (/** @type {Answer} */ chosen) => {
      given = chosen;
      asked.value = undefined;
    };
    asked.value = { question, answer, gone: () => done(given) };
  });
}

/** The question that is open, if there is one. */
export function Dialogs() {
  const open = asked.value;
  if (!open) return null;
  const { title, text, list, field, yes, no, other, tone = "primary" } = open.question;
  return h(Dialog, { key: open, title, close: () => open.answer("no"), gone: open.gone },
    text && h("p", { dir: "auto" }, text),
    list && h("ul", { class: "dialog-list" }, list.map((each, at) => h("li", { key: at, dir: "auto" }, each))),
    field,
    h("div", { class: "cluster dialog-actions" },
      // The safe one has the focus, also below something that may be filled in.
      h("button", { type: "button", class: "button plain", autofocus: true, onClick: () => open.answer("no") }, no),
      other && h("button", { type: "button", class: "button danger", onClick: () => open.answer("other") }, other),
      h("button", { type: "button", class: `button ${tone}`, onClick: () => open.answer("yes") }, yes),
    ),
  );
}

/** @param {{title: string, close?: () => void, gone?: () => void, children?: any, look?: "wide" | "palette", key?: any}} props Without `close`, Escape does nothing; `gone` follows when it has left the page. */
export function Dialog({ title, close, gone, children, look }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  const id = useId();
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      // The browser returns the focus to what had it: at once, so that nothing else takes it meanwhile.
      dialog?.close();
      gone?.();
    };
  }, []);
  return h(
    "dialog",
    {
      ref: element,
      class: look ? `dialog ${look}` : "dialog",
      "aria-labelledby": id,
      onCancel: (event) => {
        event.preventDefault();
        close?.();
      },
      // A search is left by a click beside it.
      onClick: (event) => event.target === element.current && look === "palette" && close?.(),
    },
    h("h2", { id, class: look === "palette" ? "hidden" : undefined }, title),
    children,
  );
}

/** The form of a new record, in a dialog of another view. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { fieldsOf, FormState, theInterface } from "../../form.js";
import { describe } from "../../notices.js";
import { t } from "../../texts.js";
import { Button } from "./basics.js";
import { Dialog } from "./dialog.js";
import { FormField } from "./fields.js";

/**
 * @typedef {object} Props
 * @property {string} title
 * @property {string} operation Whose body the form is, see `form.js`.
 * @property {keyof typeof import("../../presentation.js").presentation} kind
 * @property {string[]} fields In their order, all of them required; the first that is empty gets the focus.
 * @property {Record<string, unknown>} [typed] Text from another field.
 * @property {string} yes
 * @property {(values: any) => Promise<Answer>} send
 * @property {(answer: Answer, values: any) => void} made
 * @property {(failure: Failure) => string | undefined} [explain] What a failure means here.
 * @property {() => void} close
 */

/** @param {Props} props */
export function FormDialog(props) {
  const { title, operation, kind, fields, typed = {}, close } = props;
  const [form, setForm] = useState(/** @type {FormState | undefined} */ (undefined));
  const [complaint, setComplaint] = useState("");
  useEffect(() => {
    const begin = (/** @type {import("../../form.js").Interface} */ described) => {
      const all = fieldsOf(described, operation, kind);
      const shown = new FormState(fields.flatMap((name) => all.filter((field) => field.name === name).map((field) => ({ ...field, required: true }))), {});
      for (const [name, value] of Object.entries(typed)) shown.set(name, value);
      setForm(shown);
    };
    theInterface().then(begin, (error) => setComplaint(describe(error)));
  }, []);
  return h(Dialog, { title, close },
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    form && h(Fields, { ...props, form, complain: setComplaint }),
  );
}

/** @param {Props & {form: FormState, complain: (words: string) => void}} props */
function Fields({ form, yes, send, made, explain, close, complain }) {
  const element = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [busy, setBusy] = useState(false);
  /** The request whose response was lost: sent again with the same values, it creates no second record. */
  const lost = useRef({ body: "", repeat: /** @type {(() => Promise<Answer>) | undefined} */ (undefined) });
  const problems = form.problems.value;
  const focus = (/** @type {string} */ selector) => /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector(selector))?.focus();
  useEffect(() => focus('[aria-invalid="true"]'), [problems]);
  useEffect(() => focus(`[name=${form.fields.find(({ name }) => !form.values.value[name])?.name ?? form.fields[0]?.name}]`), []);
  const create = async () => {
    const values = form.whole;
    const body = JSON.stringify(values);
    const repeat = lost.current.body === body ? lost.current.repeat : undefined;
    setBusy(true);
    complain("");
    try {
      made(await (repeat ?? (() => send(values)))(), values);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      lost.current = { body, repeat: error.repeat };
      complain(error.kind === "invalid" ? form.take(error.problems).join("\n") : (explain?.(error) ?? describe(error)));
      setBusy(false);
    }
  };
  return h(
    "form",
    {
      ref: element,
      class: "form",
      noValidate: true,
      // The form of a record, which may be around it, is not submitted.
      onSubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        event.stopPropagation();
        if (!busy && form.check()) void create();
      },
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (!(event.ctrlKey || event.metaKey) || event.code !== "KeyS") return;
        event.preventDefault();
        event.stopPropagation();
        element.current?.requestSubmit();
      },
    },
    form.fields.map((field) => h(FormField, { key: field.name, form, field })),
    h("div", { class: "cluster dialog-actions" }, h(Button, { onClick: close }, t("cancel")), h(Button, { type: "submit", tone: "primary", busy }, yes)),
  );
}

/** Dialogs with fields: the form of a new record in another view, and reasons. */
import { h, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { fieldsOf, FormState, problemOf, theInterface } from "../../form.js";
import { describe } from "../../notices.js";
import { t } from "../../texts.js";
import { Button, Form } from "./basics.js";
import { useSend } from "./hooks.js";
import { ask, Dialog } from "./dialog.js";
import { RecordForm, TextField, useText } from "./fields.js";

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

/** The form of a new record, in a dialog of another view. @param {Props} props */
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
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const first = form.fields.find(({ name }) => !form.values.value[name]) ?? form.fields[0];
  useEffect(() => /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector(`[name=${first?.name}]`))?.focus(), []);
  const once = useSend((failure) => complain(failure.kind === "invalid" ? form.take(failure.problems).join("\n") : (explain?.(failure) ?? describe(failure))));
  const create = async () => {
    const values = form.whole;
    complain("");
    await once.send(values, () => send(values), (answer) => made(answer, values));
  };
  return h("div", { ref: element }, h(RecordForm, { form, save: create }, h(DialogEnd, { close, yes, busy: once.busy !== "" })));
}

/** The end of a form in a dialog. @param {{close: () => void, yes: string} & import("./basics.js").ButtonProps} props */
export const DialogEnd = ({ close, yes, ...more }) =>
  h("div", { class: "cluster dialog-actions" }, h(Button, { onClick: close }, t("cancel")), h(Button, { type: "submit", tone: "primary", ...more }, yes));

/** The reason for a change, which the history keeps; nobody has to give one. @param {{value: string, change: (value: string) => void}} props */
export const Why = ({ value, change }) => h(TextField, { label: t("record.why"), maxLength: 200, value, set: change });

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

/**
 * The question for a reason that others read.
 *
 * @param {object} props
 * @param {string} props.title
 * @param {string} props.label
 * @param {string} props.hint
 * @param {string} props.yes
 * @param {number} props.most The most characters that the service takes.
 * @param {string} [props.begin] A reason to begin with.
 * @param {(reason: string) => void} [props.keep] Keeps the text, also while it is typed, beyond the dialog.
 * @param {readonly string[]} [props.earlier] Reasons to choose from.
 * @param {(reason: string) => void} props.give
 * @param {() => void} props.close
 * @param {any} [props.children] Before the field.
 */
export function ReasonDialog({ title, label, hint, yes, most, begin = "", keep, earlier = [], give, close, children }) {
  const { text, refuse } = useText(begin);
  const reason = text.value.trim();
  useLayoutEffect(() => keep?.(text.value), [text.value]);
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const submit = () => {
    const found = problemOf({ schema: { type: "string", minLength: 1, maxLength: most }, required: true, nullable: false }, reason) ?? "";
    refuse(found);
    if (found) field.current?.focus();
    else give(reason);
  };
  const choose = (/** @type {string} */ earlierReason) => {
    text.set(earlierReason);
    // To be edited, or sent with Control and Enter; a phone would show its keyboard.
    const input = field.current;
    if (!input || matchMedia("(pointer: coarse)").matches) return;
    input.value = earlierReason;
    input.focus();
    input.setSelectionRange(earlierReason.length, earlierReason.length);
  };
  const keys = (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && (event.preventDefault(), submit());
  return h(Dialog, { title, close },
    children,
    h(Form, { send: submit },
      h(TextField, { label, hint, ...text, rows: 3, required: true, field, onKeyDown: keys }),
      earlier.length > 0 &&
        h("div", { class: "stack", role: "group", "aria-label": t("decline.earlier") },
          h("p", { class: "label" }, t("decline.earlier")),
          earlier.map((each) => h("button", { key: each, type: "button", class: "button plain earlier-reason", dir: "auto", onClick: () => choose(each) }, each)),
        ),
      h(DialogEnd, { close, yes, tone: "danger" }),
    ),
  );
}

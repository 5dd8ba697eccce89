/** The fields of a form, each with its label, what it is for and what is wrong with it. */
import { h, useEffect, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { enumeration, t } from "../../texts.js";
import { guard } from "../../router.js";
import { Form } from "./basics.js";
import { useEvents } from "./hooks.js";
import { ownPicture } from "./picture.js";

/** @typedef {{form: FormState, field: Field, id: string, describedBy: string, disabled: boolean}} WidgetProps */

/**
 * What draws the fields of each widget; a view adds its own for those that it brings, such as the CSS editor.
 * @type {Partial<Record<import("../../presentation.js").Widget, (props: WidgetProps) => any>>}
 */
export const widgets = { switch: Switch, number: Text, text: Text, url: Text, target: Text, password: Text, "text area": Area };

/** What every field for a text has. @param {WidgetProps} props */
function textOf({ form, field, id, describedBy, disabled }) {
  const value = form.values.value[field.name];
  return {
    id,
    class: "input",
    name: field.name,
    dir: "auto",
    value: value === null || value === undefined ? "" : String(value),
    disabled,
    required: form.requires(field),
    "aria-invalid": Boolean(form.problems.value[field.name]),
    "aria-describedby": describedBy,
    onInput: (/** @type {InputEvent} */ event) => form.set(field.name, /** @type {HTMLInputElement} */ (event.currentTarget).value),
  };
}

/** @param {WidgetProps & {list?: string}} props `list` is the id of a list of what may be meant. */
export function Text({ list, ...props }) {
  const { field } = props;
  return h("input", {
    ...textOf(props),
    type: field.widget === "password" ? "password" : "text",
    inputMode: field.widget === "number" ? "numeric" : field.widget === "url" ? "url" : undefined,
    autocomplete: field.widget === "password" ? "new-password" : "off",
    spellcheck: false,
    list,
  });
}

/** One of a few. @param {WidgetProps & {read?: (value: string) => unknown, children?: any}} props Its options; `read` makes of a choice what the form has. */
export function Select({ read = (value) => value, children, ...props }) {
  const choose = (/** @type {InputEvent} */ event) => props.form.set(props.field.name, read(/** @type {HTMLSelectElement} */ (event.currentTarget).value));
  return h("select", { ...textOf(props), onInput: choose }, children);
}

/** A longer text. @param {WidgetProps & {rows?: number, isLine?: boolean}} props `isLine`: line breaks in it become spaces. */
export function Area({ rows = 3, isLine = false, ...props }) {
  const { form, field } = props;
  const line = {
    onKeyDown: (/** @type {KeyboardEvent} */ event) => void (event.key === "Enter" && event.preventDefault()),
    onInput: (/** @type {InputEvent} */ event) => form.set(field.name, /** @type {HTMLTextAreaElement} */ (event.currentTarget).value.replace(/\s*\n\s*/g, " ")),
  };
  return h("textarea", { ...textOf(props), rows, ...(isLine ? line : {}) });
}

/** @param {WidgetProps} props */
function Switch({ form, field, id, describedBy, disabled }) {
  return h("input", {
    id,
    class: "switch",
    name: field.name,
    type: "checkbox",
    role: "switch",
    checked: Boolean(form.values.value[field.name]),
    disabled,
    "aria-invalid": Boolean(form.problems.value[field.name]),
    "aria-describedby": describedBy,
    onInput: (event) => form.set(field.name, event.currentTarget.checked),
  });
}

/** @param {string} name @param {"label" | "hint"} what @returns {string} the words of a field; its name where there are none */
export function words(name, what) {
  const of = name.replace(".", "_");
  const key = /** @type {TextKey} */ (what === "hint" ? `field.${of}.hint` : `field.${of}`);
  const found = t(key);
  if (found !== key) return found;
  return what === "hint" ? "" : name.replaceAll("_", " ");
}

/** What is wrong with a field, and what it is for, which helps to mend it. @param {{id: string, hint?: any, problem?: string | undefined}} props */
export const About = ({ id, hint, problem }) => h("div", { id, class: "field-about" }, problem && h("p", { class: "problem" }, problem), hint && h("p", { class: "hint" }, hint));

/** A typed text, with its problem until it is changed. @param {string} [begin] @returns {{text: {value: string, set: (value: string) => void, problem: string}, refuse: (problem: string) => void}} `text` is for a `TextField` */
export function useText(begin = "") {
  const [value, setValue] = useState(begin);
  const [problem, refuse] = useState("");
  const set = (/** @type {string} */ typed) => {
    setValue(typed);
    refuse("");
  };
  return { text: { value, set, problem }, refuse };
}

/**
 * A field for a text in a form that the interface does not describe.
 *
 * @param {{label: string, value: string, set: (value: string) => void, hint?: any, problem?: string | undefined, rows?: number, required?: boolean, look?: string, field?: {current: any}, [name: string]: any}} props With `rows` it has lines; `field` gets its element.
 */
export function TextField({ label, value, set, hint, problem, rows, required, look = "", field, ...others }) {
  const id = useId();
  return h("div", { class: "field" },
    h("label", { class: required ? "label required" : "label", for: id }, label),
    h(rows ? "textarea" : "input", {
      id,
      ref: field,
      class: `input ${look}`,
      rows,
      dir: "auto",
      autocomplete: "off",
      required,
      value,
      "aria-invalid": Boolean(problem),
      "aria-describedby": `${id}-about`,
      onInput: (/** @type {InputEvent} */ event) => set(/** @type {HTMLInputElement} */ (event.currentTarget).value),
      ...others,
    }),
    h(About, { id: `${id}-about`, problem, hint }),
  );
}

/** @param {{form: FormState, field: Field, disabled?: boolean}} props */
function FormField({ form, field, disabled = false }) {
  const id = useId();
  const Widget = widgets[field.widget] ?? Text;
  if (field.widget === "fixed" && !form.values.value[field.name]) return null;
  // Where a picture is to be found is known then, or need not be.
  const isUploaded = field.widget === "drop" || ownPicture(String(form.values.value[field.name] ?? "")) !== undefined;
  return h("div", { class: `field field-${field.widget}` },
    h("label", { class: form.requires(field) && !disabled ? "label required" : "label", for: id }, words(field.label ?? field.name, "label")),
    h(Widget, { form, field, id, describedBy: `${id}-about`, disabled }),
    h(About, { id: `${id}-about`, hint: isUploaded ? "" : words(field.label ?? field.name, "hint"), problem: form.problems.value[field.name] }),
  );
}

/** The fields that most do not need, out of sight until something is to be done there. @param {{form: FormState, disabled: boolean}} props */
function Rare({ form, disabled }) {
  const fields = form.fields.filter(({ isRare }) => isRare);
  const [isOpen, setOpen] = useState(false);
  const filled = fields.filter(({ name }) => String(form.values.value[name] ?? "") !== "");
  const problems = form.problems.value;
  useLayoutEffect(() => {
    if (fields.some(({ name }) => problems[name])) setOpen(true);
  }, [problems]);
  const toggle = (/** @type {MouseEvent} */ event) => {
    event.preventDefault();
    setOpen(!isOpen);
  };
  return h("details", { class: "rare", open: isOpen },
    h("summary", { onClick: toggle }, t("more"), h("span", { class: "hint" }, filled.length > 0 ? enumeration(filled.map(({ name }) => words(name, "label"))) : t("form.more.about"))),
    isOpen && h("div", { class: "rare-fields" }, fields.map((field) => h(FormField, { key: field.name, form, field, disabled }))),
  );
}

/**
 * A form whose fields the interface describes. Ctrl+S saves it, and leaving it unsaved asks first.
 *
 * @param {object} props
 * @param {FormState} props.form
 * @param {string} [props.id] For buttons that stand outside of it.
 * @param {() => Promise<void>} props.save Called when all is within its limits.
 * @param {boolean} [props.isNew] Whether its first field gets the focus, and the mark of required ones is explained.
 * @param {boolean} [props.disabled]
 * @param {any} [props.children] After the fields, such as the buttons.
 */
export function RecordForm({ form, id, save, disabled = false, isNew = false, children }) {
  const element = useRef(/** @type {HTMLFormElement | null} */ (null));
  const problems = form.problems.value;
  const before = useRef(problems);
  const latest = useRef(save);
  latest.current = save;
  useEffect(() => {
    const saveAll = async () => {
      if (form.check()) await latest.current();
      return !form.isChanged.peek();
    };
    return guard(() => form.isChanged.peek(), disabled ? undefined : saveAll);
  }, [form, disabled]);
  useEffect(() => {
    // Not where it begins with a place for files.
    if (isNew) /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector(".field")?.querySelector("input, select, textarea"))?.focus();
  }, [form]);
  useEffect(() => {
    // To the first one that is wrong, once they are shown; but not when one of them is being corrected.
    const isFewer = Object.keys(problems).length < Object.keys(before.current).length;
    before.current = problems;
    if (!isFewer && Object.keys(problems).length) {
      /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector('[aria-invalid="true"], .field-drop:has(.problem) button'))?.focus();
    }
  }, [problems]);
  useEvents(window, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (!(event.ctrlKey || event.metaKey) || event.code !== "KeyS") return;
    event.preventDefault();
    // Not that of a record behind a dialog.
    const dialog = [...document.querySelectorAll("dialog[open]")].at(-1);
    if (!dialog || dialog.contains(element.current)) element.current?.requestSubmit();
  });
  return h(Form, { element, id, send: () => !disabled && form.check() && save() },
    isNew && h("p", { class: "hint" }, t("form.required")),
    form.fields
      .filter(({ isRare }, at, all) => !isRare || !all[at - 1]?.isRare)
      .map((field) => (field.isRare ? h(Rare, { key: "rare", form, disabled }) : h(FormField, { key: field.name, form, field, disabled }))),
    children,
  );
}

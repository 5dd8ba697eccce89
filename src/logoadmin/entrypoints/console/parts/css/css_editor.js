/**
 * A field for CSS: an editor as soon as it is loaded, and a plain text area until then, where it cannot be, or for a text
 * that it takes too long for.
 *
 * @typedef {import("./css_code.js").Code} Code
 * @typedef {import("./css_code.js").CssKind} CssKind
 */
import { h, useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { language, t } from "../../texts.js";
import { useEvents } from "../primitives/hooks.js";

/** Leads to a place in the editor that is open, as a form has one. @type {(line: number, column: number) => void} */
export let goTo = () => undefined;

/** The most characters beyond ASCII in one line: the editor needs longer for each the more of them a line has. */
const MOST = 1000;
const BEYOND = /[^\t -~]/g;

/** @param {string} text @returns {boolean} whether the editor would block the page for seconds, or endlessly */
const isTooMuch = (text) => text.split("\n").some((line) => line.length > MOST && (line.match(BEYOND)?.length ?? 0) > MOST);

/** @param {WidgetProps & {kind: CssKind}} props */
function CssEditor({ form, field, id, describedBy, disabled, kind }) {
  const value = String(form.values.value[field.name] ?? "");
  const problem = form.problems.value[field.name];
  const invalid = problem !== undefined;
  const set = (/** @type {string} */ text) => form.set(field.name, text);
  const label = t("field.custom_css");
  const host = useRef(/** @type {HTMLDivElement | null} */ (null));
  const area = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const code = useRef(/** @type {Code | undefined} */ (undefined));
  const latest = useRef({ value, set });
  latest.current = { value, set };
  // The reported texts that have not come back as the value yet, which lags behind fast typing.
  const reported = useRef(/** @type {string[]} */ ([]));
  const [isOpen, setOpen] = useState(false);
  /** Where somebody was in the text area. */
  const left = useRef(/** @type {{from: number, to: number} | undefined} */ (undefined));
  const spoken = language.value;

  useEffect(() => {
    let isGone = false;
    const open = async () => {
      const { openCode } = await import("./css_code.js");
      if (isGone || !host.current || isTooMuch(latest.current.value)) return;
      const { current: plain } = area;
      left.current = plain && plain === document.activeElement ? { from: plain.selectionStart, to: plain.selectionEnd } : undefined;
      code.current = openCode({
        host: host.current,
        kind,
        value: latest.current.value,
        selected: left.current,
        label,
        disabled,
        onInput: (text) => {
          reported.current.push(text);
          latest.current.set(text);
        },
      });
      setOpen(true);
    };
    // Without it, the text area does.
    open().catch(() => setOpen(false));
    return () => {
      isGone = true;
      code.current?.destroy();
      code.current = undefined;
      setOpen(false);
    };
  }, [kind, spoken]);

  useEffect(() => {
    const at = reported.current.lastIndexOf(value);
    if (at < 0) code.current?.setValue(value);
    reported.current = reported.current.slice(at < 0 ? reported.current.length : at + 1);
  }, [value]);
  useEffect(() => code.current?.tell({ label, description: problem ?? "", disabled, invalid }), [label, problem, disabled, isOpen]);
  useLayoutEffect(() => {
    // For what focuses the field, the focus goes on to the text.
    if (host.current) host.current.focus = () => code.current?.focus();
    goTo = (line, column) => (code.current ? code.current.goTo(line, column) : area.current && goToPlain(area.current, line, column));
  }, []);
  useLayoutEffect(() => {
    // Who was typing in the text area goes on in the editor.
    if (isOpen && left.current) code.current?.focus();
  }, [isOpen]);
  useEvents(document, "click", ({ target }) => target.closest(`label[for="${CSS.escape(id)}"]`) && code.current?.focus(), [id]);

  return h("div", { class: `css-editor css-editor-${kind}`, "data-disabled": disabled },
    h("div", {
      ref: host,
      class: "css-editor-code",
      hidden: !isOpen,
      "aria-invalid": isOpen && invalid ? "true" : undefined,
      onKeyDown: keepKeys,
    }),
    isOpen
      ? h("p", { class: "css-editor-keys" }, t("css.keys"))
      : h("textarea", {
          ref: area,
          id,
          class: "input css-editor-plain",
          spellcheck: false,
          value,
          readOnly: disabled,
          "aria-invalid": invalid,
          "aria-describedby": describedBy,
          onInput: (/** @type {InputEvent} */ event) => set(/** @type {HTMLTextAreaElement} */ (event.currentTarget).value),
        }),
  );
}

/** @param {HTMLTextAreaElement} area @param {number} line @param {number} column In characters. */
function goToPlain(area, line, column) {
  const lines = area.value.split("\n");
  const before = [...(lines[line - 1] ?? "")].slice(0, column - 1).join("");
  const at = [...lines.slice(0, line - 1), before].join("\n").length;
  area.setSelectionRange(at, at);
  area.focus();
}

/**
 * Keep key presses for the text from the page, whose listeners see events from the outer element: they would treat a
 * letter as a shortcut, or Escape as leaving the form. Keys with Ctrl are for both.
 *
 * @param {KeyboardEvent} event
 */
function keepKeys(event) {
  if (!event.ctrlKey && !event.metaKey) event.stopPropagation();
}

/** Make the widget of a form's field with CSS. @param {CssKind} kind @returns {(props: WidgetProps) => any} */
export const cssWidget = (kind) => (props) => h(CssEditor, { ...props, kind });

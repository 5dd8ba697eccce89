/**
 * The CSS editor itself: CodeMirror with what is ours. `css_editor.js` loads it when a form with CSS opens.
 *
 * @typedef {"declarations" | "sheet"} CssKind What a logo has, and what a theme has.
 */
import { autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, Compartment, CompletionContext, completionKeymap, cssCompletionSource, cssLanguage, defaultKeymap, drawSelection, EditorState, EditorView, ensureSyntaxTree, forceParsing, highlightActiveLine, highlightSelectionMatches, highlightSpecialChars, HighlightStyle, history, historyKeymap, indentOnInput, indentWithTab, keymap, LanguageSupport, lineNumbers, linter, lintGutter, lintKeymap, search, searchKeymap, syntaxHighlighting, tags, Transaction } from "../../vendor/codemirror.js";
import { h, render } from "../../vendor/preact.js";
import { language, t } from "../../texts.js";
import { Icon } from "../primitives/basics.js";

/** @typedef {import("../../vendor/codemirror.js").EditorView} View */

/** @type {Record<CssKind, LanguageSupport>} */
const LANGUAGES = {
  sheet: supportFor(cssLanguage),
  // Told that it begins within a block, the parser takes properties for what they are.
  declarations: supportFor(cssLanguage.configure({ top: "Styles" })),
};

/** @param {typeof cssLanguage} parsed */
function supportFor(parsed) {
  return new LanguageSupport(parsed, parsed.data.of({ autocomplete: suggestions }));
}

/** CodeMirror asks once after the last key, maybe before its parser reaches the cursor. @param {CompletionContext} asked */
async function suggestions(asked) {
  const { view, explicit } = asked;
  if (!view) return null;
  while (!forceParsing(view, view.state.selection.main.head, TIMEOUT) && !asked.aborted) await new Promise((done) => setTimeout(done));
  return cssCompletionSource(new CompletionContext(view.state, view.state.selection.main.head, explicit));
}

const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.variableName], color: "var(--accent)" },
  { tag: [tags.tagName, tags.className, tags.labelName, tags.constant(tags.className)], fontWeight: "600" },
  { tag: [tags.keyword, tags.definitionKeyword, tags.modifier, tags.operatorKeyword], color: "var(--danger)" },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--good)" },
  { tag: [tags.number, tags.unit, tags.color, tags.atom], color: "var(--warning)" },
  { tag: tags.comment, color: "var(--muted)", fontStyle: "italic" },
]);

const THEME = EditorView.theme({
  "&": { color: "var(--ink)", backgroundColor: "var(--surface)", height: "100%", fontSize: "var(--text)" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.25rem", overflow: "auto" },
  ".cm-scroller:focus-visible": { outline: "2px solid var(--accent)", outlineOffset: "-2px" },
  ".cm-content": { padding: "0.5rem 0", caretColor: "var(--ink)" },
  ".cm-cursor, .cm-dropCursor": { borderLeftColor: "var(--ink)" },
  ".cm-gutters": { color: "var(--muted)", backgroundColor: "var(--surface)", border: "none" },
  ".cm-activeLine, .cm-activeLineGutter": { backgroundColor: "var(--hover)" },
  "&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground": {
    backgroundColor: "var(--accent-soft)",
  },
  ".cm-selectionMatch, .cm-searchMatch": { backgroundColor: "var(--warning-soft)" },
  ".cm-searchMatch-selected": { outline: "2px solid var(--accent)" },
  "&.cm-focused .cm-matchingBracket": { backgroundColor: "var(--warning-soft)" },
  "&.cm-focused .cm-nonmatchingBracket": { backgroundColor: "transparent", textDecoration: "underline" },
  ".cm-tooltip, .cm-panels": { color: "var(--ink)", backgroundColor: "var(--surface)", border: "1px solid var(--line)" },
  ".cm-panels.cm-panels-top": { border: "none", borderBottom: "1px solid var(--line)" },
  ".cm-tooltip-autocomplete > ul > li[aria-selected]": { color: "var(--accent-ink)", backgroundColor: "var(--accent)" },
  ".completion-icon": { display: "inline-block", width: "0.875rem", marginInlineEnd: "0.5rem", verticalAlign: "-0.125rem", opacity: "0.7" },
  ".completion-icon .icon": { fill: "none", stroke: "currentcolor", strokeWidth: "2" },
  ".cm-textfield, .cm-button": { color: "var(--ink)", background: "var(--surface)", border: "1px solid var(--line)", borderRadius: "0.25rem" },
  // Instead of pictures in addresses, which the policy refuses.
  ".cm-lintRange": { backgroundImage: "none", textDecoration: "underline wavy 1px", textUnderlineOffset: "3px" },
  ".cm-lintRange-error": { textDecorationColor: "var(--danger)" },
  ".cm-lintRange-warning": { textDecorationColor: "var(--warning)" },
  ".cm-lint-marker": { width: "0.5rem", height: "0.5rem", margin: "0.375rem 0.1875rem", borderRadius: "50%" },
  ".cm-lint-marker-error": { content: "none", backgroundColor: "var(--danger)" },
  ".cm-lint-marker-warning": { content: "none", backgroundColor: "var(--warning)", borderRadius: "1px" },
  ".cm-diagnostic-error": { borderLeftColor: "var(--danger)" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--warning)" },
  ".cm-panel.cm-search": { padding: "0.5rem 2rem 0.5rem 0.5rem" },
  ".cm-panel.cm-search label": { fontSize: "var(--small)" },
  ".cm-panel button[name=close]": { color: "inherit", minWidth: "1.5rem", minHeight: "1.5rem" },
});

/** What CodeMirror says; our texts have it under the same names. */
const PHRASES = /** @type {const} */ ([
  "Find", "Replace", "next", "previous", "all", "match case", "by word", "regexp", "replace", "replace all",
  "close", "current match", "on line", "replaced $ matches", "replaced match on line $", "Go to line", "go",
  "Completions", "Diagnostics", "No diagnostics", "Control character", "Selection deleted",
]);

/** Those of CodeMirror are characters that not every font has. @type {Record<string, IconName>} */
const COMPLETION_ICONS = { property: "Tag", variable: "Variable", class: "Hash", keyword: "Braces" };

/** @param {{type?: string | undefined}} completion */
function completionIcon({ type = "" }) {
  const place = document.createElement("span");
  place.className = "completion-icon";
  render(h(Icon, { name: COMPLETION_ICONS[type] ?? "Braces" }), place);
  return place;
}

/** A change that comes from outside: it is not reported back. */
const OUTSIDE = Transaction.userEvent.of("outside");

/**
 * @typedef {object} CodeOptions
 * @property {HTMLElement} host An element in the document; the editor comes into a shadow root of it.
 * @property {CssKind} kind
 * @property {string} value
 * @property {{from: number, to: number} | undefined} selected
 * @property {string} label What it is, for what reads aloud.
 * @property {boolean} disabled
 * @property {(value: string) => void} onInput
 */

/**
 * @typedef {object} Code
 * @property {(value: string) => void} setValue Replace the text, as a step that can be undone.
 * @property {(told: {label: string, description: string, disabled: boolean, invalid: boolean}) => void} tell
 * @property {() => void} focus
 * @property {(line: number, column: number) => void} goTo Leads to a place; both from 1, columns in code points.
 * @property {() => void} destroy
 */

/** Open an editor. @param {CodeOptions} options @returns {Code} */
export function openCode({ host, kind, value, selected, label, disabled, onInput }) {
  // In a shadow root its styles are adopted; in the document they would be a style element, which the policy refuses.
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  const told = new Compartment();
  const view = new EditorView({
    parent: root,
    state: EditorState.create({
      doc: value,
      extensions: [
        ...extensionsFor(kind),
        told.of(attributes({ label, description: "", disabled, invalid: false })),
        EditorView.updateListener.of((update) => {
          const isOurs = update.transactions.every((each) => each.isUserEvent("outside"));
          if (update.docChanged && !isOurs) onInput(update.state.doc.toString());
        }),
      ],
    }),
  });
  const within = (/** @type {number} */ at) => Math.min(at, view.state.doc.length);
  if (selected) view.dispatch({ selection: { anchor: within(selected.from), head: within(selected.to) } });
  // What scrolls must be reachable by keyboard (WCAG 2.1.1).
  view.scrollDOM.tabIndex = 0;
  return {
    setValue: (text) => replace(view, text),
    tell: (more) => view.dispatch({ effects: told.reconfigure(attributes(more)) }),
    focus: () => view.focus(),
    goTo(number, column) {
      const line = view.state.doc.line(Math.max(1, Math.min(number, view.state.doc.lines)));
      const before = [...line.text].slice(0, column - 1).join("").length;
      view.dispatch({ selection: { anchor: line.from + before }, effects: EditorView.scrollIntoView(line.from + before, { y: "center" }) });
      view.focus();
    },
    destroy: () => view.destroy(),
  };
}

/** @param {{label: string, description: string, disabled: boolean, invalid: boolean}} told */
function attributes({ label, description, disabled, invalid }) {
  return [
    EditorState.readOnly.of(disabled),
    EditorView.contentAttributes.of({
      "aria-label": label,
      // An id could not be named across the border of the shadow root.
      "aria-description": description,
      "aria-invalid": String(invalid),
      "aria-readonly": String(disabled),
      spellcheck: "false",
      translate: "no",
    }),
  ];
}

/** @param {CssKind} kind */
function extensionsFor(kind) {
  const phrases = PHRASES.map((phrase) => [phrase, t(`code.${phrase}`)]);
  return [
    EditorState.phrases.of({ ...Object.fromEntries(phrases), $locale: language.peek() }),
    EditorState.tabSize.of(2),
    LANGUAGES[kind],
    THEME,
    syntaxHighlighting(COLOURS),
    lineNumbers(),
    lintGutter(),
    linter((view) => complaintsAbout(view.state, kind), { delay: 400 }),
    history(),
    drawSelection(),
    highlightSpecialChars(),
    highlightActiveLine(),
    highlightSelectionMatches(),
    indentOnInput(),
    bracketMatching(),
    closeBrackets(),
    autocompletion({ icons: false, addToOptions: [{ position: 20, render: completionIcon }] }),
    search({ top: true }),
    EditorView.lineWrapping,
    EditorView.domEventHandlers({ beforeinput: typedOver }),
    // Escape, and then Tab leaves: CodeMirror lets the next Tab after an Escape pass.
    keymap.of([
      ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...lintKeymap, ...defaultKeymap,
      indentWithTab,
    ]),
  ];
}

/**
 * Insert text typed over a selection ourselves: browsers would keep the style of the old text in style attributes,
 * which the policy reports.
 *
 * @param {InputEvent} event
 * @param {View} view
 * @returns {boolean} whether that was done
 */
function typedOver(event, view) {
  const { main } = view.state.selection;
  if (event.inputType !== "insertText" || event.data === null || event.isComposing || view.composing || main.empty) {
    return false;
  }
  event.preventDefault();
  const text = event.data;
  const insert = () => view.state.update(view.state.replaceSelection(text), { userEvent: "input.type" });
  const isTaken = view.state
    .facet(EditorView.inputHandler)
    .some((handler) => handler(view, main.from, main.to, text, insert));
  if (!isTaken) view.dispatch(insert());
  return true;
}

/** Replace only what differs, so that the caret and the scrolling stay where they are. @param {View} view @param {string} text */
function replace(view, text) {
  const now = view.state.doc.toString();
  if (now === text) return;
  const shorter = Math.min(now.length, text.length);
  let start = 0;
  while (start < shorter && now[start] === text[start]) start += 1;
  let end = 0;
  while (end < shorter - start && now[now.length - 1 - end] === text[text.length - 1 - end]) end += 1;
  view.dispatch({ changes: { from: start, to: now.length - end, insert: text.slice(start, text.length - end) }, annotations: OUTSIDE });
}

/**
 * Possible problems with CSS: where its syntax breaks, and properties and values that the browser does not know.
 *
 * @typedef {import("../../vendor/codemirror.js").Diagnostic} Diagnostic
 * @typedef {import("../../vendor/codemirror.js").EditorState} State
 * @typedef {import("@lezer/common").SyntaxNodeRef} NodeRef
 */

/** The number of complaints shown. */
const MOST = 200;
/** The maximum time for parsing in milliseconds; text after that has no complaints yet. */
const TIMEOUT = 50;
/** In these, names stand for descriptors, which `CSS.supports` knows nothing of. */
const DESCRIBING = /^@(font-face|font-palette-values|counter-style|property|page|position-try|view-transition|color-profile)$/i;
/** With these, a value is known only where it is used. */
const LATER = /\b(var|env|attr|if|inherit|random-item|first-valid|--[\w-]+)\(/i;

/** @param {State} state @param {CssKind} kind @returns {Diagnostic[]} */
function complaintsAbout(state, kind) {
  const tree = ensureSyntaxTree(state, state.doc.length, TIMEOUT);
  /** @type {Diagnostic[]} */
  const found = [];
  tree?.iterate({
    enter(node) {
      if (found.length >= MOST) return false;
      if (node.type.isError && isOfDocument(state, node.node)) return false;
      const complaint = node.type.isError ? broken(state, node, kind) : unknown(state, node, kind);
      // One mistake often breaks the same place several times.
      if (complaint && (found.at(-1)?.from !== complaint.from || found.at(-1)?.severity !== complaint.severity)) {
        found.push(complaint);
      }
      return !node.type.isError;
    },
  });
  return found;
}

/** @param {State} state @param {number} from @param {number} to @returns {{from: number, to: number}} at least a character */
function place(state, from, to) {
  if (to > from) return { from, to };
  return from < state.doc.length ? { from, to: from + 1 } : { from: Math.max(0, from - 1), to: from };
}

/** @param {State} state @param {NodeRef} node @param {CssKind} kind @returns {Diagnostic | undefined} */
function broken(state, node, kind) {
  const text = state.sliceDoc(node.from, Math.min(node.to, node.from + 40));
  const parent = node.node.parent?.name;
  /** @type {TextKey} */
  let key = "css.broken";
  if (kind === "declarations" && /[{}]/.test(text)) key = "css.onlyDeclarations";
  else if (node.to === state.doc.length && node.from === node.to && parent === "Block") key = "css.unclosed";
  else if (node.from === node.to) key = "css.missing";
  return { ...place(state, node.from, node.to), severity: "error", message: t(key) };
}

/** @param {State} state @param {NodeRef} node @param {CssKind} kind @returns {Diagnostic | undefined} */
function unknown(state, node, kind) {
  if (kind === "declarations" && (node.name === "RuleSet" || node.name.endsWith("Statement") || node.name === "AtRule")) {
    return { ...place(state, node.from, Math.min(node.to, state.doc.lineAt(node.from).to)), severity: "error", message: t("css.onlyDeclarations") };
  }
  if (node.name !== "Declaration") return undefined;
  const declaration = node.node;
  const property = declaration.getChild("PropertyName");
  const colon = declaration.getChild(":");
  if (!property || !colon || isDescriptor(state, declaration)) return undefined;
  const name = state.sliceDoc(property.from, property.to);
  // Those of other browsers are not known here, and do no harm.
  if (name.startsWith("-")) return undefined;
  if (!CSS.supports(name, "initial")) {
    return { from: property.from, to: property.to, severity: "warning", message: t("css.unknownProperty", { name }) };
  }
  const whole = state.sliceDoc(colon.to, node.to);
  const value = whole.replace(/!\s*important\s*$/i, "").trim();
  const isKnown = value === "" || LATER.test(value) || /(^|[\s,(])-(webkit|moz|ms|o)-/.test(value) || CSS.supports(name, value);
  if (isKnown || hasError(declaration)) return undefined;
  const from = colon.to + whole.length - whole.trimStart().length;
  return { ...place(state, from, node.to), severity: "warning", message: t("css.unknownValue", { name }) };
}

/** @param {State} state @param {import("@lezer/common").SyntaxNode} node @returns {boolean} whether it is in the conditions of `@-moz-document`, which user styles have */
function isOfDocument(state, node) {
  let parent = node.parent;
  while (parent && parent.name !== "AtRule" && parent.name !== "Block") parent = parent.parent;
  return parent?.name === "AtRule" && /^@(-moz-)?document\b/i.test(state.sliceDoc(parent.from, parent.from + 16));
}

/** @param {State} state @param {import("@lezer/common").SyntaxNode} declaration */
function isDescriptor(state, declaration) {
  for (let parent = declaration.parent; parent; parent = parent.parent) {
    const keyword = parent.name === "AtRule" ? parent.getChild("AtKeyword") : null;
    if (keyword && DESCRIBING.test(state.sliceDoc(keyword.from, keyword.to))) return true;
  }
  return false;
}

/** @param {import("@lezer/common").SyntaxNode} node */
function hasError(node) {
  for (let child = node.firstChild; child; child = child.nextSibling) {
    if (child.type.isError || hasError(child)) return true;
  }
  return false;
}

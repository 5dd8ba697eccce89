/**
 * Possible problems with CSS: where its syntax breaks, and properties and values that the browser does not know.
 *
 * @typedef {import("./css_code.js").CssKind} CssKind
 * @typedef {import("../../vendor/codemirror.js").Diagnostic} Diagnostic
 * @typedef {import("../../vendor/codemirror.js").EditorState} State
 * @typedef {import("@lezer/common").SyntaxNodeRef} NodeRef
 */
import { ensureSyntaxTree } from "../../vendor/codemirror.js";
import { t } from "../../texts.js";

/** The number of complaints shown. */
const MOST = 200;
/** The maximum time for parsing in milliseconds; text after that has no complaints yet. */
const TIMEOUT = 50;
/** In these, names stand for descriptors, which `CSS.supports` knows nothing of. */
const DESCRIBING = /^@(font-face|font-palette-values|counter-style|property|page|position-try|view-transition|color-profile)$/i;
/** With these, a value is known only where it is used. */
const LATER = /\b(var|env|attr|if|inherit|random-item|first-valid|--[\w-]+)\(/i;

/** @param {State} state @param {CssKind} kind @returns {Diagnostic[]} */
export function complaintsAbout(state, kind) {
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
  /** @type {import("../../texts.js").TextKey} */
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

// What `codemirror.js` exports, and for `make vendor` what it is made of.
export {
  acceptCompletion, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, startCompletion,
} from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab, redo, undo } from "@codemirror/commands";
export { cssCompletionSource, cssLanguage } from "@codemirror/lang-css";
export {
  HighlightStyle, LanguageSupport, bracketMatching, ensureSyntaxTree, foldGutter, foldKeymap, indentOnInput, indentUnit,
  syntaxHighlighting, syntaxTree,
} from "@codemirror/language";
export { forEachDiagnostic, lintGutter, lintKeymap, linter } from "@codemirror/lint";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { Annotation, Compartment, EditorSelection, EditorState, Transaction } from "@codemirror/state";
export {
  EditorView, drawSelection, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
  placeholder,
} from "@codemirror/view";
export { tags } from "@lezer/highlight";

export type { Diagnostic } from "@codemirror/lint";
export type { Extension } from "@codemirror/state";

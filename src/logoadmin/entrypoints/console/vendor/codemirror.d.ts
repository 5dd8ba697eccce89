// What `codemirror.js` exports, and for `make vendor` what it is made of.
export { CompletionContext, autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
export { defaultKeymap, history, historyKeymap, indentWithTab } from "@codemirror/commands";
export { cssCompletionSource, cssLanguage } from "@codemirror/lang-css";
export {
  HighlightStyle, LanguageSupport, bracketMatching, ensureSyntaxTree, forceParsing, indentOnInput, syntaxHighlighting,
} from "@codemirror/language";
export { forEachDiagnostic, lintGutter, lintKeymap, linter } from "@codemirror/lint";
export { highlightSelectionMatches, search, searchKeymap } from "@codemirror/search";
export { Compartment, EditorState, Transaction } from "@codemirror/state";
export { EditorView, drawSelection, highlightActiveLine, highlightSpecialChars, keymap, lineNumbers } from "@codemirror/view";
export { tags } from "@lezer/highlight";

export type { Diagnostic } from "@codemirror/lint";

/** What tsc does not see. Run from the root of the project. */
import js from "@eslint/js";

/** Properties through which a text becomes markup or code; the page's policy refuses them as well. */
const MARKUP = ["innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "srcdoc"];

export default [
  { ignores: ["**/node_modules/", "**/vendor/*.js", "**/*.d.ts"] },
  js.configs.recommended,
  {
    linterOptions: { reportUnusedDisableDirectives: "error" },
    rules: {
      "no-undef": "off", // tsc knows the names that there are
      "no-unused-vars": "off",
      curly: ["error", "multi-line"],
      eqeqeq: "error",
      "no-console": ["error", { allow: ["error"] }],
      "no-else-return": "error",
      "no-eval": "error",
      "no-implicit-coercion": ["error", { allow: ["!!"] }],
      "no-implied-eval": "error",
      "no-new-func": "error",
      "no-restricted-properties": ["error", ...MARKUP.map((property) => ({ property }))],
      "no-throw-literal": "error",
      "no-useless-assignment": "error",
      "no-var": "error",
      "object-shorthand": "error",
      "prefer-arrow-callback": "error",
      "prefer-const": "error",
      "prefer-template": "error",
    },
  },
  { files: ["tools/console/*.js"], rules: { "no-console": "off" } },
];

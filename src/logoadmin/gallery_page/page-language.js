/** The language of all pages: the one that the visitor chose, or the first of the browser's that they have. */
const KEPT = "logoadmin language";

/** @returns {string | null} the language that was chosen; a browser may forbid to remember one */
function chosen() {
  try {
    return localStorage.getItem(KEPT);
  } catch {
    return null;
  }
}

/** @param {string} language */
export function choose(language) {
  try {
    localStorage.setItem(KEPT, language);
  } catch {
    // It holds for this page.
  }
}

/** @param {string} language @returns {string} it with the region of the browser */
export const localeOf = (language) => navigator.languages.find((each) => each.startsWith(language)) ?? language;

/** @type {"en" | "ru"} */
export const language = (chosen() ?? navigator.languages.find((each) => /^(en|ru)\b/.test(each)) ?? "en").startsWith("ru") ? "ru" : "en";

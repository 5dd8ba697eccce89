/** What visitors choose on every page, and what their browser remembers: the language, and light or dark. */

/** @param {"language" | "scheme"} name @returns {string | null} a browser may forbid to remember anything */
export function remembered(name) {
  try {
    return localStorage.getItem(`logoadmin ${name}`);
  } catch {
    return null;
  }
}

/** @param {"language" | "scheme"} name @param {string} value */
export function remember(name, value) {
  try {
    localStorage.setItem(`logoadmin ${name}`, value);
  } catch {
    // It holds for this page.
  }
}

/** @param {string} language @returns {string} it with the region of the browser */
export const localeOf = (language) => navigator.languages.find((each) => each.startsWith(language)) ?? language;

/** @type {"en" | "ru"} the chosen language, or the first of the browser's languages that the pages have */
export const language = (remembered("language") ?? navigator.languages.find((each) => /^(en|ru)\b/.test(each)) ?? "en").startsWith("ru") ? "ru" : "en";

/** @param {string} scheme `light`, `dark`, or empty for that of the browser */
export function paint(scheme) {
  document.documentElement.dataset.scheme = scheme;
}
paint(remembered("scheme") ?? "");

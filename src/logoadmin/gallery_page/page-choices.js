/** The parts that all pages share: the language, light or dark, and what their footers offer. */

const root = document.documentElement;

/** @param {"language" | "scheme"} name @returns {string | null} a browser may forbid to remember anything */
function remembered(name) {
  try {
    return localStorage.getItem(`logoadmin ${name}`);
  } catch {
    return null;
  }
}

/** @param {"language" | "scheme"} name @param {string} value */
function remember(name, value) {
  try {
    localStorage.setItem(`logoadmin ${name}`, value);
  } catch {
    // It holds for this page.
  }
}

/** @type {"en" | "ru"} the chosen language, or the first of the browser's languages that the pages have */
export const language = (remembered("language") ?? navigator.languages.find((each) => /^(en|ru)\b/.test(each)) ?? "en").startsWith("ru") ? "ru" : "en";

/** The language with the region of the browser. */
export const locale = navigator.languages.find((each) => each.startsWith(language)) ?? language;

/** @param {string} selector @returns {NodeListOf<HTMLElement>} */
export const findAll = (selector) => document.querySelectorAll(selector);

/** @param {string} letters @param {string | number} hue one of twelve @returns {HTMLElement} what stands in place of a picture */
export function initials(letters, hue) {
  const element = document.createElement("span");
  element.className = "initials";
  element.ariaHidden = "true";
  element.dataset.hue = `${hue}`;
  element.append(letters);
  return element;
}

// The file of a page is in English.
root.lang = language;
if (language === "ru") {
  for (const element of findAll("[data-ru]")) element.replaceChildren(element.dataset.ru ?? "");
  for (const element of findAll("[data-label-ru]")) element.ariaLabel = element.dataset.labelRu ?? "";
}
// Where the publisher knows no address of the page.
for (const link of findAll("a[href*='{url}']")) link.setAttribute("href", (link.getAttribute("href") ?? "").replace("{url}", encodeURIComponent(location.href.replace(/#.*/, ""))));

const [settings] = findAll(".settings");
const scheme = /** @type {HTMLSelectElement} */ (settings?.firstElementChild);
const other = /** @type {HTMLElement} */ (settings?.lastElementChild);
const paint = () => (root.dataset.theme = scheme.value);
settings?.removeAttribute("hidden");
scheme.value = remembered("scheme") ?? "";
paint();
scheme.addEventListener("change", () => remember("scheme", paint()));
other.lang = language === "ru" ? "en" : "ru";
other.replaceChildren(language === "ru" ? "English" : "Русский");
other.addEventListener("click", () => {
  remember("language", other.lang);
  location.reload();
});

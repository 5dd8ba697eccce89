/** The parts that all pages share: the language, the colour scheme, and their controls in the footer. */

const root = document.documentElement;

/** @param {"language" | "scheme"} name @param {string} [value] to remember @returns {?string} null if the browser forbids it */
function remembered(name, value) {
  try {
    if (value !== undefined) localStorage.setItem(`logoadmin ${name}`, value);
    return localStorage.getItem(`logoadmin ${name}`);
  } catch {
    return null; // The choice is for this page only.
  }
}

/** @type {"en" | "ru"} the chosen language, or the first of the browser's languages that the pages have */
export const language = (remembered("language") ?? navigator.languages.find((each) => /^(en|ru)\b/.test(each)) ?? "en").startsWith("ru") ? "ru" : "en";

/** The language with the region of the browser. */
export const locale = navigator.languages.find((each) => each.startsWith(language)) ?? language;

/** @param {string} selector @returns {NodeListOf<HTMLElement>} */
export const findAll = (selector) => document.querySelectorAll(selector);

/** @param {string} selector @returns {HTMLElement} an element that the page has */
export const find = (selector) => /** @type {HTMLElement} */ (document.querySelector(selector));

/** @typedef {Node | string | false | null | undefined} Child */
/**
 * Make an element. Texts become text nodes, never markup.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | null | undefined | ((event: any) => unknown)>} [attributes] functions are event listeners
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(key, value === true ? "" : `${value}`);
  }
  element.append(...children.filter((child) => typeof child === "string" || child instanceof Node));
  return element;
}

/** @param {string} letters @param {string | number} hue one of twelve @returns {HTMLElement} a substitute for a picture */
export const initials = (letters, hue) => h("span", { class: "initials", "aria-hidden": "true", "data-hue": hue }, letters);

/** The most by which a picture is enlarged: a tiny one would be nothing but blur. */
export const ENLARGED = 3;

/** Limit a picture on another host, whose size is known when it is loaded; SVG stays sharp. @param {HTMLImageElement} image */
export function limit(image) {
  if (image.hasAttribute("width") || !image.naturalWidth || /\.svg(?:$|[?#])/i.test(image.src)) return;
  image.width = image.naturalWidth * ENLARGED;
  image.height = image.naturalHeight * ENLARGED;
}

// Pages are stored in English.
root.lang = language;
if (language === "ru") {
  for (const element of findAll("[data-ru]")) element.replaceChildren(element.dataset.ru ?? "");
  for (const element of findAll("[data-label-ru]")) element.ariaLabel = element.dataset.labelRu ?? "";
}
// Links with a placeholder, if the publisher does not know the address of the page.
for (const link of findAll("a[href*='{url}']")) link.setAttribute("href", (link.getAttribute("href") ?? "").replace("{url}", encodeURIComponent(location.href.replace(/#.*/, ""))));

const settings = find(".settings");
const [scheme, other] = /** @type {[HTMLSelectElement, HTMLElement]} */ ([...settings.children]);
const paint = () => (root.dataset.theme = scheme.value);
settings.hidden = false;
scheme.value = remembered("scheme") ?? "";
paint();
scheme.addEventListener("change", () => remembered("scheme", paint()));
other.lang = language === "ru" ? "en" : "ru";
other.replaceChildren(language === "ru" ? "English" : "Русский");
other.addEventListener("click", () => {
  remembered("language", other.lang);
  location.reload();
});

/** How a work looks on a site: on a sample page in a frame where nothing runs, and which only loads the gallery's own pictures. */
import { language } from "./page-choices.js";
import sample from "./page-sample.js";

/** The start of rules for some pages, which apply to the sample as well. */
const DOCUMENT = /@(?:-moz-)?document\b(?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|[^"'{};@\\])*\{/gi;

/** The address of a picture of the gallery, of which it may have a copy beside its pages. */
const OWN_PICTURE = /https?:\/\/(?:(?!https?:\/\/)[^\s"'()\\])+\/pictures\/(?=[0-9a-f]{64}(?:-320)?\.webp)/g;

/** @param {HTMLElement} place with the frame, and the buttons for it @param {string} css */
export function show(place, css) {
  const frame = /** @type {HTMLIFrameElement} */ (place.querySelector("iframe"));
  if (frame.hasAttribute("srcdoc")) return;
  // Characters that would end the URL, or the attribute.
  const pictures = new URL("pictures/", import.meta.url).href.replace(/[&;,]/g, encodeURIComponent);
  const policy = `default-src 'none'; img-src ${pictures} data:; font-src data:`;
  // Links would open windows, which the sandbox prevents.
  // eslint-disable-next-line no-restricted-properties -- the sample is ours, the address is escaped, and nothing runs there
  frame.srcdoc = sample.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}"><base target="_blank">`);
  frame.addEventListener("load", () => draw(place, frame, css.replace(OWN_PICTURE, pictures)), { once: true });
}

/** @param {HTMLElement} place @param {HTMLIFrameElement} frame @param {string} css */
function draw(place, { contentDocument, contentWindow, style }, css) {
  const page = /** @type {Document} */ (contentDocument);
  const { CSSStyleSheet: Sheet } = /** @type {Window & typeof globalThis} */ (contentWindow);
  const { kind, target = "" } = place.dataset;
  const contentOf = (/** @type {string} */ id) => /** @type {HTMLTemplateElement} */ (page.getElementById(id)).content;
  const sheet = (/** @type {string} */ text) => {
    const made = new Sheet();
    made.replaceSync(text);
    return made;
  };
  const sheetOf = (/** @type {string} */ id) => sheet(contentOf(id).textContent ?? "");
  const sheets = ["site", ...(kind === "logo" ? ["headers"] : []), "mark"].map(sheetOf);
  if (kind === "logo") drawHeaders(page, contentOf("logo"), target, css);
  else {
    page.body.append(contentOf("theme").cloneNode(true));
    sheets.push(sheet(css.replace(DOCUMENT, "@media all{")));
  }
  page.documentElement.lang = language;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll("[data-en]"))) element.append(element.dataset[language] ?? "");
  const scheme = document.documentElement.dataset.scheme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  const [dark, moving] = place.querySelectorAll("button");
  offer(dark, kind === "theme", scheme === "dark", (isOn) => (style.colorScheme = isOn ? "dark" : "light"));
  // What moves is at rest until somebody wants to see it.
  offer(moving, /animation|transition/i.test(css), false, (isOn) => (page.adoptedStyleSheets = isOn ? sheets : [sheetOf("calm"), ...sheets]));
}

/** @param {Document} page @param {DocumentFragment} header @param {string} target @param {string} css Draw headers, light and dark, with the logo and without. */
function drawHeaders(page, header, target, css) {
  for (const logo of ["with", "without"]) {
    for (const ground of ["light", "dark"]) {
      const copy = /** @type {DocumentFragment} */ (header.cloneNode(true));
      copy.querySelector(".site")?.classList.add(/^(forum|market)$/.exec(target)?.[0] ?? "other", ground, logo);
      page.body.append(copy);
    }
  }
  // As on a site, what is no declaration is dropped.
  for (const link of /** @type {NodeListOf<HTMLElement>} */ (page.querySelectorAll(".with .logo"))) link.style.cssText = css;
}

/** @param {HTMLElement | undefined} button @param {boolean} isNeeded @param {boolean} isOn at first @param {(isOn: boolean) => void} act */
function offer(button, isNeeded, isOn, act) {
  if (!button) return;
  const turn = (/** @type {boolean} */ isPressed) => {
    button.ariaPressed = `${isPressed}`;
    act(isPressed);
  };
  button.hidden = !isNeeded;
  button.addEventListener("click", () => turn(button.ariaPressed !== "true"));
  turn(isOn);
}

/** What the pages of works and authors do with JavaScript: their language, copying, sharing, and pictures that fail. */

import { language, localeOf, remember } from "./page-choices.js";

const root = document.documentElement;

/** @param {string} selector @returns {HTMLElement | null} */
const find = (selector) => document.querySelector(selector);

/** @param {"en" | "ru"} language Write the page in a language; its file is in English. */
function speak(language) {
  if (language !== root.lang) {
    for (const element of document.querySelectorAll("[data-ru]")) swap(element, "ru", element.textContent, (text) => element.replaceChildren(text));
    for (const element of document.querySelectorAll("[data-label-ru]")) {
      swap(element, "labelRu", element.ariaLabel, (text) => element.setAttribute("aria-label", text));
    }
  }
  root.lang = language;
  const dates = new Intl.DateTimeFormat(localeOf(language), { dateStyle: "long" });
  for (const time of document.querySelectorAll("time")) time.replaceChildren(dates.format(new Date(time.dateTime)));
  const button = find(".language");
  if (!button) return;
  button.hidden = false;
  button.lang = language === "ru" ? "en" : "ru";
  button.replaceChildren(language === "ru" ? "English" : "Русский");
}

/**
 * @param {Element} element
 * @param {string} name of the attribute with the text in the other language
 * @param {string | null} text
 * @param {(text: string) => void} write
 */
function swap(element, name, text, write) {
  const { dataset } = /** @type {HTMLElement} */ (element);
  write(dataset[name] ?? "");
  dataset[name] = text ?? "";
}

/** @param {"copied" | "failed"} what @returns {void} Say what came of copying. */
function say(what) {
  const said = find(".said");
  const { dataset } = said ?? {};
  said?.replaceChildren(dataset?.[root.lang === "ru" ? `${what}Ru` : what] ?? "");
}

const code = find(".source code");

/** @returns {Promise<string>} the CSS, which may be in a file of its own */
async function css() {
  const from = code?.dataset.from;
  if (from && !code?.textContent) {
    const response = await fetch(from);
    if (!response.ok) throw new Error(`${from}: HTTP ${response.status}`);
    code?.replaceChildren(await response.text());
  }
  return code?.textContent ?? "";
}

async function copy() {
  // The CSS may have to be downloaded first; a promise keeps the browser's leave to copy until then.
  const blob = css().then((text) => new Blob([text], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]).then(
    () => say("copied"),
    () => {
      find(".source")?.setAttribute("open", "");
      say("failed");
    },
  );
}

async function share() {
  const url = /** @type {HTMLLinkElement | null} */ (document.querySelector("[rel=canonical]"))?.href ?? location.href;
  if (navigator.share) await navigator.share({ title: find("h1")?.textContent ?? "", url }).catch(() => undefined);
  else await navigator.clipboard.writeText(url).then(() => say("copied"), () => undefined);
}

/** @param {HTMLImageElement} image Put letters in the place of a picture that cannot be loaded. */
function replace(image) {
  const letters = document.createElement("span");
  letters.className = "initials";
  letters.ariaHidden = "true";
  letters.dataset.hue = image.dataset.hue;
  letters.append(image.dataset.initials ?? "");
  image.replaceWith(letters);
}

for (const image of document.querySelectorAll("img")) {
  image.addEventListener("error", () => replace(image));
  if (image.complete && !image.naturalWidth) replace(image);
}
for (const [selector, act] of /** @type {const} */ ([[".copy", copy], [".share", share]])) {
  const button = find(selector);
  button?.removeAttribute("hidden");
  button?.addEventListener("click", act);
}
find(".source")?.addEventListener("toggle", () => void css().catch(() => undefined));
find(".language")?.addEventListener("click", () => {
  const next = root.lang === "ru" ? "en" : "ru";
  remember("language", next);
  speak(next);
});
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) find("a.back")?.click();
});
speak(language);

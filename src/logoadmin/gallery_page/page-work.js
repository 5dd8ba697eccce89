/** The script of the pages of works and authors: copying, sharing, the preview, and broken pictures. */
import { findAll, initials, language, limit, locale } from "./page-choices.js";

const dates = new Intl.DateTimeFormat(locale, { dateStyle: "long" });
for (const time of document.querySelectorAll("time")) time.replaceChildren(dates.format(new Date(time.dateTime)));

const [[code], [source], [said]] = [findAll(".source code"), findAll(".source"), findAll(".said")];

/** Show the result. @param {"copied" | "failed"} what @returns {void} */
function say(what) {
  said?.replaceChildren(said.dataset[language === "ru" ? `${what}Ru` : what] ?? "");
}

/** @returns {Promise<string>} the CSS, which may be in a separate file */
async function css() {
  const from = code?.dataset.from;
  if (from && !code?.textContent) {
    const response = await fetch(from);
    if (!response.ok) throw new Error(`${from}: HTTP ${response.status}`);
    code?.replaceChildren(await response.text());
  }
  return code?.textContent ?? "";
}

/** Open the CSS on the page. */
function fail() {
  source?.setAttribute("open", "");
  say("failed");
}

async function copy() {
  // The CSS may have to be downloaded first; a promise keeps the browser's permission to copy until then.
  const blob = css().then((text) => new Blob([text], { type: "text/plain" }));
  await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]).then(() => say("copied"), fail);
}

async function share() {
  const url = /** @type {HTMLLinkElement | null} */ (document.querySelector("[rel=canonical]"))?.href ?? location.href;
  if (navigator.share) await navigator.share({ title: document.querySelector("h1")?.textContent ?? "", url }).catch(() => undefined);
  else await navigator.clipboard.writeText(url).then(() => say("copied"), () => undefined);
}

/** Show or hide the work on a sample page. @param {Event} event */
async function preview({ currentTarget }) {
  const button = /** @type {HTMLElement} */ (currentTarget);
  const [place] = findAll(".preview");
  if (!place) return;
  place.hidden = !place.hidden;
  button.ariaExpanded = `${!place.hidden}`;
  if (place.hidden) return;
  place.scrollIntoView({ block: "nearest" });
  await Promise.all([import("./page-preview.js"), css()]).then(([{ show }, text]) => show(place, text), fail);
}

/** @param {HTMLImageElement} image that cannot be loaded */
const replace = (image) => image.replaceWith(initials(image.dataset.initials ?? "", image.dataset.hue ?? ""));

for (const image of document.querySelectorAll("img")) {
  image.addEventListener("error", () => replace(image));
  image.addEventListener("load", () => limit(image));
  if (image.complete && !image.naturalWidth) replace(image);
  else limit(image);
}
for (const [selector, act] of /** @type {const} */ ([[".copy", copy], [".share", share], [".try", preview]])) {
  const [button] = findAll(selector);
  button?.removeAttribute("hidden");
  button?.addEventListener("click", act);
}
source?.addEventListener("toggle", () => void css().catch(() => undefined));
addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !event.defaultPrevented) findAll("a.back")[0]?.click();
});
navigator.serviceWorker?.register(new URL("page-offline.js", import.meta.url)).catch(() => undefined);

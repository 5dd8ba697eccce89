/**
 * The frame that shows somebody else's CSS. The page around it sends the content. Its policy gives it no origin, and
 * only lets it reach hosts that the user allowed.
 *
 * @typedef {object} Shown
 * @property {"logo" | "theme"} kind
 * @property {string} css A list of declarations, or a sheet.
 * @property {string} target The part of the site.
 * @property {{url: string, media: string}[]} imports The sheets to load before it.
 * @property {boolean} isPlaying Whether what moves may move.
 * @property {"en" | "ru"} language
 */

/** @param {string} text @returns {CSSStyleSheet} */
function sheet(text) {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

/** @param {string} id @returns {DocumentFragment} */
function contentOf(id) {
  return /** @type {HTMLTemplateElement} */ (document.getElementById(id)).content;
}

const [CALM, SITE, HEADERS, MARK] = /** @type {[CSSStyleSheet, CSSStyleSheet, CSSStyleSheet, CSSStyleSheet]} */ (
  ["calm", "site", "headers", "mark"].map((id) => sheet(contentOf(id).textContent ?? ""))
);
/** The author's sheet: a single one, so that new CSS replaces the old. */
const theirs = new CSSStyleSheet();
let isPlaying = false;
let drawn = "";
/** The properties that take longest to paint, each with what a pixel of its lengths costs, most of which are radii of blurs. */
const PAINTED = /** @type {const} */ ({ boxShadow: 1, textShadow: 1, filter: 50, backdropFilter: 50, backgroundImage: 0, maskImage: 0 });
/** What a shadow, a filter or a part of a gradient costs besides. */
const EACH = 10;
/** What may be painted: some seconds of work without a graphics card, and several times as much as honest themes have. */
const MOST = 20_000;

/** @param {string} id @returns {DocumentFragment} */
const copyOf = (id) => /** @type {DocumentFragment} */ (contentOf(id).cloneNode(true));

/** @param {Shown} shown @param {Node[]} nodes */
function put({ language }, nodes) {
  for (const node of [...document.body.childNodes]) {
    if (!(node instanceof HTMLTemplateElement)) node.remove();
  }
  document.body.append(...nodes);
  document.documentElement.lang = language;
  for (const element of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll("[data-en]"))) {
    element.textContent = element.dataset[language] ?? "";
  }
}

/** @param {Shown} shown */
function drawHeaders(shown) {
  const { target } = shown;
  const look = target === "forum" || target === "market" ? target : "other";
  const nodes = ["with", "without"].flatMap((logo) =>
    ["light", "dark"].map((ground) => {
      const copy = copyOf("logo");
      copy.querySelector(".site")?.classList.add(look, ground, logo);
      return copy;
    }),
  );
  put(shown, nodes);
}

/** @param {Shown} shown */
function showLogo(shown) {
  document.adoptedStyleSheets = [...(isPlaying ? [] : [CALM]), SITE, HEADERS, MARK];
  for (const link of document.querySelectorAll(".with .logo")) {
    // As on the site, anything that is not a declaration is dropped.
    /** @type {HTMLElement} */ (link).style.cssText = shown.css;
  }
}

/** @param {Shown} shown */
function showTheme(shown) {
  theirs.replaceSync(shown.css);
  document.adoptedStyleSheets = [...(isPlaying ? [] : [CALM]), SITE, MARK, theirs];
  const wanted = shown.imports.map(({ url, media }) => `${media}\n${url}`);
  const links = [...document.head.querySelectorAll("link")];
  if (links.map((link) => `${link.media}\n${link.href}`).join("\n\n") === wanted.join("\n\n")) return;
  for (const link of links) link.remove();
  for (const { url, media } of shown.imports) {
    document.head.append(Object.assign(document.createElement("link"), { rel: "stylesheet", href: url, media }));
  }
}

/** @param {Shown} shown */
function show(shown) {
  isPlaying = shown.isPlaying;
  // Stopped animations only restart in new elements.
  const drawing = JSON.stringify([shown.kind, shown.target, shown.language, isPlaying]);
  if (drawing !== drawn) {
    drawn = drawing;
    if (shown.kind === "logo") drawHeaders(shown);
    else put(shown, [copyOf("theme")]);
  }
  if (shown.kind === "logo") showLogo(shown);
  else showTheme(shown);
}

/** @returns {Generator<Record<string, any>>} the styles of all elements, and what animations lead to */
function* styles() {
  for (const element of document.querySelectorAll("*")) {
    for (const part of [null, "::before", "::after"]) yield getComputedStyle(element, part);
  }
  for (const animation of isPlaying ? document.getAnimations() : []) yield* /** @type {KeyframeEffect} */ (animation.effect).getKeyframes();
}

/** @returns {boolean} whether painting may take so long that the browser seems to hang */
function isHeavy() {
  let cost = 0;
  for (const style of styles()) {
    for (const [name, ofPixel] of Object.entries(PAINTED)) {
      const value = (style[name] ?? "").replace(/url\("(?:[^"\\]|\\.)*"\)/g, "");
      cost += EACH * (value.split("(").length - 1);
      for (const [, length] of value.matchAll(/(\d+(?:\.\d+)?)px/g)) cost += ofPixel * Number(length);
      if (cost > MOST) return true;
    }
  }
  return false;
}

/** Drop the author's CSS before it is painted, if that would take too long; the page around the frame says so. */
function check() {
  if (!isHeavy()) return;
  theirs.replaceSync("");
  for (const link of document.querySelectorAll("link")) link.remove();
  for (const logo of /** @type {NodeListOf<HTMLElement>} */ (document.querySelectorAll(".with .logo"))) logo.style.cssText = "";
  parent.postMessage("heavy", "*");
}

// An imported sheet may have layers before ours: its animations are stopped as they start.
for (const begun of ["animationstart", "transitionrun"]) {
  addEventListener(begun, () => {
    if (!isPlaying) for (const animation of document.getAnimations()) animation.cancel();
  });
}
// Links do nothing here.
addEventListener("click", (event) => {
  if (event.target instanceof Element && event.target.closest("a")) event.preventDefault();
});
addEventListener("message", (event) => {
  if (event.source !== parent) return;
  show(event.data);
  parent.postMessage("shown", "*");
  check();
});
// After what may let other rules apply: before the frame is painted again.
for (const change of ["pointerover", "pointerdown", "focusin", "input", "resize", "animationstart", "transitionrun", "load"]) addEventListener(change, check, true);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", check);
parent.postMessage("ready", "*");

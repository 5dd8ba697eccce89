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
 * @property {string} language
 * @property {Record<string, string>} words
 */

/** Stops all motion, despite `!important`: the first layer wins, and nothing can be added to a nameless one. */
const CALM = sheet("@layer { *, *::before, *::after { animation: none !important; transition: none !important } }");

/** The site without a theme. */
const SITE = sheet(`
  *, *::before, *::after { box-sizing: border-box }
  :root { color-scheme: light dark; forced-color-adjust: none }
  body { margin: 0; font: 14px / 20px system-ui, sans-serif; color: light-dark(#23272f, #e3e6ea); background: light-dark(#f4f5f7, #16181c) }
  a { color: light-dark(#2a5db0, #8ab4f8) }
  .header { display: flex; flex-wrap: wrap; gap: 16px; align-items: center; padding: 8px 24px; color: #fff; background: light-dark(#2b3a55, #20252e) }
  .header a { color: inherit }
  .nav { display: flex; gap: 16px }
  .nav a, .threads a { text-decoration: none }
  .nav .active { border-bottom: 2px solid }
  .content { display: grid; gap: 16px; max-width: 720px; margin: 0 auto; padding: 16px 24px }
  h1 { margin: 0; font-size: 20px; line-height: 28px }
  .threads { margin: 0; padding: 0; list-style: none }
  .threads, .post, .form { border: 1px solid light-dark(#dcdfe4, #2d3138); border-radius: 6px; background: light-dark(#fff, #1d2025) }
  .thread { display: flex; justify-content: space-between; gap: 8px; padding: 10px 16px }
  .thread + .thread { border-top: 1px solid light-dark(#dcdfe4, #2d3138) }
  .thread.unread a { font-weight: 600 }
  .count, .footer, time { color: light-dark(#5c6470, #a0a7b1) }
  .post, .form { padding: 12px 16px }
  .post p, .buttons { margin: 8px 0 }
  blockquote { margin: 8px 0; padding: 4px 12px; border-left: 3px solid light-dark(#dcdfe4, #3a3f47) }
  pre { margin: 8px 0; padding: 8px 12px; overflow-x: auto; background: light-dark(#f0f1f3, #14161a) }
  label { display: block; margin-bottom: 8px }
  .input { display: block; width: 100%; padding: 6px 10px; font: inherit; border: 1px solid light-dark(#b8bec7, #474d57); border-radius: 4px; background: transparent; color: inherit }
  .button { padding: 6px 14px; font: inherit; color: inherit; border: 1px solid light-dark(#b8bec7, #474d57); border-radius: 4px; background: transparent }
  .button.primary { color: #fff; background: #2a5db0; border-color: #2a5db0 }
  .footer { padding: 16px 24px; text-align: center }
`);

/** Headers of the site, light and dark, with its home link without a logo. */
const HEADERS = sheet(`
  :root { color-scheme: light; forced-color-adjust: none }
  body { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 360px), 1fr)); gap: 12px 16px; padding: 12px }
  .site { min-width: 0; container-type: inline-size }
  .site-said { margin: 0 0 4px; font-size: 12px; font-weight: 500; color: #5c6470 }
  .outside-dark .site-said { color: #a0a7b1 }
  .site-header { display: flex; align-items: center; gap: 16px; height: 56px; padding: 0 16px; overflow: hidden; border: 1px solid #dcdfe4; border-radius: 6px; color: #23272f; background: #fff }
  .dark .site-header { color: #e3e6ea; background: #1d2025; border-color: #2d3138 }
  .site-nav { display: flex; flex-wrap: wrap; gap: 14px; min-width: 0; height: 20px; overflow: hidden }
  .site-nav a { color: inherit; text-decoration: none; white-space: nowrap }
  .site-search { flex: 1; min-width: 0; padding: 4px 12px; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; border: 1px solid #b8bec7; border-radius: 16px; color: #5c6470 }
  .dark .site-search { border-color: #474d57; color: #a0a7b1 }
  .site-face { flex: none; width: 28px; height: 28px; margin-left: auto; border-radius: 50%; background: #9fb0c9 }
  .forum .site-basket, .forum .site-search, .market .site-nav { display: none }
  .other .site-basket, .other .site-search { display: none }
  @container (width < 440px) { .market .site-face { display: none } }
  @container (width < 320px) { .market .site-basket { display: none } }
`);

/** On every page: the home link, which shows the site's own mark unless a logo replaces it. */
const MARK = sheet(`
  .logo { flex: none; display: block; width: 104px; height: 36px; border-radius: 4px;
    background: linear-gradient(currentcolor, currentcolor) 44px 50% / 56px 10px no-repeat, radial-gradient(circle closest-side, currentcolor 98%, #0000) 4px 50% / 30px 30px no-repeat;
    color: inherit; opacity: 1 }
  .logo > span { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
`);

/** @param {string} text @returns {CSSStyleSheet} */
function sheet(text) {
  const made = new CSSStyleSheet();
  made.replaceSync(text);
  return made;
}

/** The author's sheet: a single one, so that new CSS replaces the old. */
const theirs = new CSSStyleSheet();
let isPlaying = false;
let drawn = "";

/** @param {string} id @returns {DocumentFragment} */
function copyOf(id) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById(id));
  return /** @type {DocumentFragment} */ (template.content.cloneNode(true));
}

/** @param {Shown} shown @param {Node[]} nodes */
function put({ language, words }, nodes) {
  for (const node of [...document.body.childNodes]) {
    if (!(node instanceof HTMLTemplateElement)) node.remove();
  }
  document.body.append(...nodes);
  document.documentElement.lang = language;
  for (const element of document.querySelectorAll("[data-word]")) {
    element.textContent = words[element.getAttribute("data-word") ?? ""] ?? "";
  }
}

/** @param {Shown} shown */
function drawHeaders(shown) {
  const { target, words } = shown;
  const look = target === "forum" || target === "market" ? target : "other";
  const nodes = ["with", "without"].flatMap((logo) =>
    ["light", "dark"].map((ground) => {
      const copy = copyOf("logo");
      const site = /** @type {HTMLElement} */ (copy.querySelector(".site"));
      site.classList.add(look, ground, logo);
      const said = /** @type {HTMLElement} */ (copy.querySelector(".site-said"));
      said.textContent = `${words[ground]}, ${words[logo]}`;
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
  const drawing = JSON.stringify([shown.kind, shown.target, shown.words, isPlaying]);
  if (drawing !== drawn) {
    drawn = drawing;
    if (shown.kind === "logo") drawHeaders(shown);
    else put(shown, [copyOf("theme")]);
  }
  if (shown.kind === "logo") showLogo(shown);
  else showTheme(shown);
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
  if (event.source === parent) show(event.data);
});
parent.postMessage("ready", "*");

/** The gallery that visitors see: opens the signed files, keeps up with them, and leads from view to view (contract Q1). */
import { config, h, workOf } from "./page-elements.js";
import { List } from "./page-list.js";
import { dateOf, language, texts } from "./page-texts.js";
import { authorView, stateView, workView } from "./page-work.js";
import { open } from "./reader.js";

/** @typedef {import("./page-elements.js").Work} Work */
/** @typedef {import("./reader.js").Gallery} Gallery */
/**
 * @typedef {object} View
 * @property {HTMLElement} element
 * @property {string} [title]
 * @property {string} [content] tells it from one that has changed
 * @property {boolean} [isState] it has its own way on
 */
/** @typedef {"offline" | "unpublished" | "expired" | "broken" | "insecure" | "old"} Fault */

/** Letters and controls that turn the direction of what follows. */
const TURNS = /[\u0590-\u08ff\u202a-\u202e\u2066-\u2069]/;
/** After the first works: the page asks for news, in case they are those of an earlier visit. */
const FIRST_CHECK = 500;
/** How often a page that is looked at asks for news, which a cache may hold back for a minute. */
const CHECK_EVERY = 60_000;

const header = /** @type {HTMLElement} */ (document.querySelector("header"));
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));

/** @type {Gallery | undefined} */
let gallery;
/** @type {Work[]} from the newest */
let works = [];
/** @type {Map<string, {severity: string, reason?: string | undefined}>} works that left while the page was open */
const left = new Map();
/** @type {View | undefined} */
let shown;
let checkedAt = 0;

const list = new List();
/** Other views; the list stays in the page, and keeps its cards. */
const place = h("div");

/** @param {unknown} error of the reader @returns {Promise<Fault>} */
async function faultOf(error) {
  const { message } = /** @type {Error} */ (error);
  if (!globalThis.crypto?.subtle) return "insecure";
  if (/^latest.json: HTTP 4/.test(message)) return "unpublished";
  if (/expired/.test(message)) return "expired";
  if (!/signed|wrong|malformed|future|another|unexpected|key|too large/.test(message)) return "offline";
  const x = "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo";
  const key = crypto.subtle.importKey("jwk", { kty: "OKP", crv: "Ed25519", x }, "Ed25519", false, ["verify"]);
  return key.then(() => "broken", () => "old");
}

const retry = () => h("button", { type: "button", click: () => (gallery ? check() : start()) }, texts.retry);

/** @param {Fault} fault @returns {HTMLElement} for a visitor who has nothing from before */
function faultView(fault) {
  const secure = new URL(location.href);
  secure.protocol = "https:";
  const action = fault === "insecure" ? h("a", { class: "button", href: secure.href }, texts.secure) : fault !== "old" && retry();
  return stateView(texts[fault], [texts[`${fault}Text`]], action);
}

/** @param {string} kind @param {number} id @returns {View} in place of a work */
function goneView(kind, id) {
  const known = gallery?.latest.blocked.find((entry) => entry.kind === kind && entry.id === id) ?? left.get(`${kind} ${id}`);
  const state = !known ? "notFound" : known.severity === "blocked" ? "blocked" : "removed";
  const title = texts[state];
  const lines = [texts[`${state}Text`], ...(known?.reason ? [texts.reason(known.reason)] : [])];
  return { element: stateView(title, lines, backLink(true)), title, content: lines.join(), isState: true };
}

/** @param {boolean} [isButton] */
const backLink = (isButton) => h("a", { class: isButton ? "button" : "back", href: list.address, click: goBack }, isButton ? texts.back : `← ${texts.back}`);

/** @param {Gallery} from @returns {View} the view that the address names */
function viewOf(from) {
  const [path = "", query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  const [, kind, id] = /^\/?(?:(logos|themes|authors)(?:\/(\d{1,10}))?)?$/.exec(path) ?? ["", "none", "0"];
  if (!id && kind !== "authors") {
    list.open(kind ?? "", new URLSearchParams(query));
    return { element: list.element };
  }
  const number = Number(id);
  if (kind === "authors" && id) {
    const author = from.get("author", number);
    if (author) return { element: authorView(author, works), title: author.username, content: JSON.stringify([author, works.filter(({ record }) => record.author_ids?.includes(number))]) };
  } else if (kind === "logos" || kind === "themes") {
    const address = `#/${kind}/${number}`;
    const work = works.find((each) => each.address === address);
    if (!work) return goneView(kind.slice(0, -1), number);
    return { element: workView(work, works, from), title: work.record.name, content: JSON.stringify(work) };
  }
  return { element: stateView(texts.notFound, [texts.notFoundText], backLink(true)), title: texts.notFound, isState: true };
}

/** Show what the address names, if that is not shown already; return whether it was not. */
function show() {
  if (!gallery) return false;
  const view = viewOf(gallery);
  document.title = view.title ? `${TURNS.test(view.title) ? `\u2068${view.title}\u2069` : view.title} · ${config.title}` : config.title;
  const isSame = shown && shown.title === view.title && (view.element === list.element ? shown.element === view.element : shown.content === view.content);
  if (isSame) return false;
  shown = view;
  const isList = view.element === list.element;
  document.body.classList.toggle("listing", isList);
  list.element.hidden = !isList;
  place.replaceChildren(...(isList ? [] : view.isState ? [view.element] : [backLink(), view.element]));
  return true;
}

/** @type {{hash: string, top: number}[]} the entries of the history, and how far they were scrolled */
const entries = [];
let current = 0;
let isSearching = false;

/** Find this entry of the history; a new one follows the last, and ends those that were undone. */
function enter() {
  const known = history.state?.entry;
  if (known === undefined) {
    entries.length = current += 1;
    history.replaceState({ entry: current }, "");
  } else current = known;
  return (entries[current] ??= { hash: location.hash, top: 0 });
}

function navigate() {
  const from = entries[current];
  if (from) from.top = scrollY;
  const { top } = enter();
  if (show() && !isSearching) {
    const focusable = shown?.element === list.element ? list.focusable(from?.hash ?? "") : place.querySelector("h1");
    focusable?.focus({ preventScroll: true });
    scrollTo({ top, behavior: "instant" });
  }
  if (isSearching) list.search();
  isSearching = false;
}

/** @param {Event} event Go back to where the list was, if it was the last. */
function goBack(event) {
  if (!/^(#\/?((logos|themes)?)(\?.*)?)?$/.test(entries[current - 1]?.hash ?? "-")) return;
  event.preventDefault();
  history.back();
}

/** Take over what the reader has. */
function refresh() {
  if (!gallery) return;
  works = [
    ...gallery.logos().map((record) => workOf("logo", /** @type {any} */ (record))),
    ...gallery.themes().map((record) => workOf("theme", /** @type {any} */ (record))),
  ].sort((a, b) => b.record.created_at - a.record.created_at || b.id - a.id);
  list.use(works);
  const hadFocus = place.contains(document.activeElement);
  if (show() && hadFocus) place.querySelector("h1")?.focus({ preventScroll: true });
}

/** @param {Fault | undefined} fault that keeps the gallery from being renewed */
function tell(fault) {
  const issued = dateOf(gallery?.latest.issued ?? 0);
  const text = fault === "offline" ? texts.offlineKept : fault === "expired" ? texts.expiredKept : texts.brokenKept;
  notice.replaceChildren(...(fault ? [h("p", {}, text(issued)), retry()] : []));
}

/** Look for news, and say if that fails. */
async function check() {
  checkedAt = Date.now();
  const fault = await gallery?.check().then(() => undefined, faultOf);
  tell(fault === "unpublished" ? "offline" : fault);
}

async function start() {
  place.replaceChildren(h("p", { class: "loading", role: "status" }, texts.loading));
  try {
    gallery = await open("./", { key: config.keys });
  } catch (error) {
    place.replaceChildren(faultView(await faultOf(error)));
    place.querySelector("h1")?.focus();
    return;
  }
  gallery.on("change", refresh);
  gallery.on("withdrawn", (entries) => {
    for (const entry of entries) left.set(`${entry.kind} ${entry.id}`, entry);
    refresh();
  });
  refresh();
  setTimeout(settle, FIRST_CHECK);
}

/** What can wait until the first works are drawn. */
function settle() {
  check();
  navigator.serviceWorker?.register("page-offline.js").catch(() => undefined);
}

document.documentElement.lang = language;
history.scrollRestoration = "manual";
enter();
main.replaceChildren(list.element, place);
const skip = (/** @type {Event} */ event) => {
  event.preventDefault();
  main.focus();
};
if (config.demo) header.before(h("p", { class: "demo" }, texts.demo));
header.append(
  h("a", { class: "skip", href: "#main", click: skip }, texts.skip),
  h("a", { class: "brand", href: "#/", dir: "auto" }, config.title),
  h(
    "nav",
    {},
    config.home && h("a", { href: config.home }, texts.home),
    config.submit && h("a", { class: "button", href: config.submit }, texts.submit),
  ),
);
addEventListener("hashchange", navigate);
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.matches("[type=search]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !gallery) return;
  if (event.key === "/") {
    event.preventDefault();
    isSearching = shown?.element !== list.element;
    if (isSearching) location.hash = list.address;
    else list.search();
  } else if (event.key === "Escape") {
    /** @type {HTMLElement | null} */ (place.querySelector("a.back, .state a"))?.click();
  }
});
const checkIfSeen = () => void (gallery && document.visibilityState === "visible" && Date.now() - checkedAt >= CHECK_EVERY && check());
setInterval(checkIfSeen, CHECK_EVERY / 4);
addEventListener("visibilitychange", checkIfSeen);
addEventListener("online", () => (gallery ? check() : start()));
start();

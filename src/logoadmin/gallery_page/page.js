/** The gallery that visitors see: opens the signed files, keeps up with them, and lists them (contract Q1). */
import { config, h, stateView, workOf } from "./page-elements.js";
import { language } from "./page-language.js";
import { List } from "./page-list.js";
import { dateOf, texts } from "./page-texts.js";
import { open } from "./reader.js";

/** @typedef {import("./page-elements.js").Work} Work */
/** @typedef {import("./reader.js").Gallery} Gallery */
/** @typedef {"offline" | "unpublished" | "expired" | "broken" | "insecure" | "old"} Fault */

/** After the first works: the page asks for news, in case they are those of an earlier visit. */
const FIRST_CHECK = 500;
/** How often a page that is looked at asks for news, which a cache may hold back for a minute. */
const CHECK_EVERY = 60_000;

const header = /** @type {HTMLElement} */ (document.querySelector("header"));
const notice = /** @type {HTMLElement} */ (document.getElementById("notice"));
const main = /** @type {HTMLElement} */ (document.getElementById("main"));

/** @type {Gallery | undefined} */
let gallery;
let checkedAt = 0;

const list = new List();
/** What stands in place of the list. */
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

/** Show the list that the address names; addresses of before lead to the pages of works and authors. */
function navigate() {
  const [path = "", query = ""] = location.hash.slice(1).split(/\?(.*)/s);
  const [, kind = "", id] = /^\/?(?:(logos|themes|authors)(?:\/(\d{1,10}))?)?$/.exec(path) ?? [];
  if (id) location.replace(`${kind}/${Number(id)}/`);
  else list.open(kind === "authors" ? "" : kind, new URLSearchParams(query));
}

/** Go back to where the visitor left for the page of a work, in browsers that did not keep this one. */
function restore() {
  const { top = 0, link = "", at = 0 } = history.state ?? {};
  scrollTo({ top, behavior: "instant" });
  if (!link) return;
  const card = list.focusable(link);
  card.focus({ preventScroll: true });
  // Groups of cards that were not drawn yet have only about their height.
  scrollBy({ top: card.getBoundingClientRect().top - at, behavior: "instant" });
}

/** Take over what the reader has. */
function refresh() {
  if (!gallery) return;
  /** @type {Work[]} from the newest */
  const works = [
    ...gallery.logos().map((record) => workOf("logo", /** @type {any} */ (record))),
    ...gallery.themes().map((record) => workOf("theme", /** @type {any} */ (record))),
  ].sort((a, b) => b.record.created_at - a.record.created_at || b.id - a.id);
  list.use(works, history.state?.count);
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
  gallery.on("withdrawn", refresh);
  place.replaceChildren();
  list.element.hidden = false;
  document.body.classList.add("listing");
  document.title = config.title;
  refresh();
  restore();
  setTimeout(settle, FIRST_CHECK);
}

/** What can wait until the first works are drawn. */
function settle() {
  check();
  navigator.serviceWorker?.register("page-offline.js").catch(() => undefined);
}

document.documentElement.lang = language;
history.scrollRestoration = "manual";
navigate();
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
  if (event.key !== "/" || isTyping || event.ctrlKey || event.metaKey || event.altKey || !gallery) return;
  event.preventDefault();
  list.search();
});
addEventListener("pagehide", () => {
  const link = document.activeElement?.getAttribute("href");
  const at = document.activeElement?.getBoundingClientRect().top;
  history.replaceState({ top: scrollY, link, at, count: list.count }, "");
});
const checkIfSeen = () => void (gallery && document.visibilityState === "visible" && Date.now() - checkedAt >= CHECK_EVERY && check());
setInterval(checkIfSeen, CHECK_EVERY / 4);
addEventListener("visibilitychange", checkIfSeen);
addEventListener("online", () => (gallery ? check() : start()));
start();

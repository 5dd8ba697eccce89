/** The first page for visitors: opens the signed files, follows their changes, and shows the list (contract Q1). */
import { find, h } from "./page-choices.js";
import { config, dateOf, explanation, linkTo, text } from "./page-elements.js";
import { List } from "./page-list.js";
import { open } from "./reader.js";

/** @typedef {{count?: number, top?: number, link?: ?string, group?: number, at?: number}} Left the state in which a history entry was left: the place of the first group of cards in view */
/** @typedef {"offline" | "unpublished" | "expired" | "broken" | "insecure" | "old"} Fault */

/** Milliseconds between the checks of a visible page; a cache may delay changes by a minute. */
const CHECK_EVERY = 60_000;

const main = find("#main");
/** The message in place of the list. */
const place = find("#place");

/** @type {import("./reader.js").Gallery | undefined} */
let gallery;
let checkedAt = 0;

const list = new List();

/** @param {unknown} error from the reader @returns {Promise<Fault>} */
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

const retry = () => h("button", { type: "button", click: () => (gallery ? check() : start()) }, text("retry"));

/** @param {Fault} fault @returns {HTMLElement} for visitors without a stored state */
function faultView(fault) {
  const secure = new URL(location.href);
  secure.protocol = "https:";
  const action = fault === "insecure" ? linkTo("secure", secure.href) : fault !== "old" && retry();
  return h("section", { class: "state" }, ...explanation("h1", fault, action, linkTo("home", config.home)));
}

/** Show the state of the reader. @param {number} [least] cards to draw at once */
function refresh(least) {
  if (!gallery) return;
  place.replaceChildren();
  list.use([...gallery.logos(), ...gallery.themes()], least);
}

/** @param {Fault | undefined} fault that prevents an update of the gallery */
function showNotice(fault) {
  const issued = dateOf(gallery?.latest.issued ?? 0);
  const reason = fault === "offline" || fault === "expired" ? fault : "broken";
  find("#notice").replaceChildren(...(fault ? [h("p", {}, text(`${reason}Kept`, issued)), retry()] : []));
}

/** Check for changes, and show a notice if that fails. */
async function check() {
  checkedAt = Date.now();
  const fault = await gallery?.check().then(() => undefined, faultOf);
  showNotice(fault === "unpublished" ? "offline" : fault);
}

const groupsOfCards = () => [...main.querySelectorAll(".cards")];

/** Return to where the visitor left for another page, in browsers that did not keep this one. @param {Left} before */
function restore({ top = 0, link, group = -1, at = 0 }) {
  const focused = /** @type {HTMLElement | null} */ (link && main.querySelector(`a[href="${CSS.escape(link)}"]`));
  focused?.focus({ preventScroll: true });
  scrollTo({ top, behavior: "instant" });
  const adjust = () => scrollBy({ top: (groupsOfCards()[group]?.getBoundingClientRect().top ?? at) - at, behavior: "instant" });
  // Groups of cards have an approximate height until they are rendered, one frame after they come into view.
  adjust();
  requestAnimationFrame(() => requestAnimationFrame(adjust));
}

/** Store in the history entry how the visitor leaves the list. */
function remember() {
  const groups = groupsOfCards();
  const group = groups.findIndex((each) => each.getBoundingClientRect().bottom > 0);
  const at = groups[group]?.getBoundingClientRect().top;
  history.replaceState({ count: list.cards.count, top: scrollY, link: document.activeElement?.getAttribute("href"), group, at }, "");
}

async function start() {
  place.replaceChildren(h("p", { class: "loading", role: "status" }, text("loading")));
  try {
    gallery = await open("./", { key: config.keys });
  } catch (error) {
    place.replaceChildren(faultView(await faultOf(error)));
    place.querySelector("h1")?.focus();
    return;
  }
  gallery.on("change", () => refresh());
  gallery.on("withdrawn", () => refresh());
  /** @type {Left} */
  const before = history.state ?? {};
  refresh(before.count);
  restore(before);
  setTimeout(settle, 500);
}

/** Tasks that can wait until the first works are drawn, which may be those of an earlier visit. */
function settle() {
  check();
  navigator.serviceWorker?.register("page-offline.js").catch(() => undefined);
}

/** Open the list at this address, or the page that had this address before each work had its own. */
function route() {
  const page = /^#\/?((?:logos|themes|authors)\/\d{1,10})$/.exec(location.hash)?.[1];
  if (page) location.replace(`${page}/`);
  else list.open(location.hash);
}

history.scrollRestoration = "manual";
// Its address would open a list.
document.querySelector(".skip")?.addEventListener("click", (event) => {
  event.preventDefault();
  main.focus();
});
addEventListener("hashchange", route);
// Before a reload, Chromium ignores a state from pagehide; Safari on phones has no beforeunload.
addEventListener("beforeunload", remember);
addEventListener("pagehide", remember);
addEventListener("keydown", (event) => {
  const isTyping = event.target instanceof Element && event.target.matches("[type=search]");
  if (isTyping || event.ctrlKey || event.metaKey || event.altKey || !gallery || event.key !== "/") return;
  event.preventDefault();
  list.search();
});
const checkIfSeen = () => void (gallery && document.visibilityState === "visible" && Date.now() - checkedAt >= CHECK_EVERY && check());
setInterval(checkIfSeen, CHECK_EVERY / 4);
addEventListener("visibilitychange", checkIfSeen);
addEventListener("online", () => (gallery ? check() : start()));
route();
start();

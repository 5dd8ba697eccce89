/** Navigation: a view is a path below `/console/`, and what the user chose in it is in the query, so that both survive reload, Back and a new tab. `place.js` finds the view of a path. */
import { batch, computed, effect, signal } from "./vendor/preact.js";

/** The folder of the console's files: in a bundle this module is in it as well, whatever it is called there. */
export const FILES = new URL("./", import.meta.url);
/** The base of the console, under any prefix: its files are one folder below it. */
export const HOME = new URL("../", FILES);

const arrived = new URL(location.href);
/** The response of an issuer, which the browser brings (contract O7): it leaves the address before anybody else reads that. */
export const issuerAnswer = arrived.pathname === HOME.pathname && arrived.searchParams.has("state") ? arrived.searchParams : undefined;
/** In sessionStorage: the sign-in at the issuer that this tab began, and the view that it was asked for. */
export const AT_ISSUER = "logoadmin.issuer";
if (issuerAnswer) history.replaceState(null, "", new URL(JSON.parse(sessionStorage.getItem(AT_ISSUER) ?? "{}").view ?? "", HOME));

/** The link with which a member of the host site comes (contract R5), out of the address for the same reason. */
const isSiteLink = (/** @type {URL} */ url) => url.hash.startsWith("#link=");
export const siteLink = isSiteLink(arrived) ? arrived.hash.slice(6) : "";
if (siteLink) history.replaceState(null, "", arrived.pathname);

const here = signal(new URL(location.href));
/** Increases with each navigation by the user, so that focus follows, but not with changes of filters. */
export const visits = signal(0);

/** @param {URL} url @returns {string} its path below the console */
const pathOf = (url) => url.pathname.slice(HOME.pathname.length).replace(/\/$/, "");

/** The path below the console. */
export const path = computed(() => pathOf(here.value));

/** The path of the list that stays in view while the address is that of one of its records, shown beside it; else empty. */
export const listBehind = signal("");
/** The id of that record. */
export const besideId = computed(() => (listBehind.value ? Number(path.value.slice(listBehind.value.length + 1)) : undefined));
/** The address of the list as it was when the first of its records was opened beside it. */
let openedFrom = "";

/** The query that each list was last shown with, by its path: search, filters and order. @type {Map<string, string>} */
const queries = new Map();
effect(() => void queries.set(listBehind.value || path.value, here.value.search));

/** @param {string} list @returns {string} its path, with what the user last chose there */
export const withChoices = (list) => `${list}${queries.get(list) ?? ""}`;

/** @param {string} path below the console, with its query @returns {string} what stands in `href` */
export const address = (path) => new URL(path, HOME).href;

/** @param {string} path as above @returns {boolean} whether it is the current view, with the same query */
export const isHere = (path) => address(path) === here.value.href;

/** @typedef {() => Promise<boolean>} Save Saves unsaved input, and returns whether all of it was saved. */
/** @type {Map<() => boolean, Save | undefined>} */
const unsaved = new Map();

/** Ask before leaving a view with unsaved input. @param {() => boolean} isUnsaved @param {Save} [save] @returns {() => void} stops asking */
export function guard(isUnsaved, save) {
  unsaved.set(isUnsaved, save);
  return () => void unsaved.delete(isUnsaved);
}

export const isUnsaved = () => [...unsaved.keys()].some((each) => each());

/** @returns {Save | undefined} what saves all unsaved input, if there is such a thing */
export function unsavedSave() {
  const saves = [...unsaved].flatMap(([isUnsaved, save]) => (isUnsaved() ? [save] : []));
  return saves.length === 1 ? saves[0] : undefined;
}

/** Asks whether to leave unsaved work, where the shell puts its dialog; and waits for decisions that are being sent. @type {{ask: () => Promise<boolean>, sent: () => Promise<void>}} */
export const leaving = { ask: async () => true, sent: async () => {} };

/**
 * @typedef {object} How
 * @property {boolean} [replace] Whether the entry of the browser's history is replaced.
 * @property {string} [beside] The list that stays in view. Without it, a list stays behind its own records.
 * @property {boolean} [isGlance] Whether the focus stays where it is.
 */

/** @param {string} path @param {How} [how] @returns {Promise<boolean>} whether it navigated */
export async function navigate(path, { replace: isReplaced = false, beside, isGlance = false } = {}) {
  const to = new URL(path, HOME);
  const list = beside ?? (listBehind.value && isRecordOf(listBehind.value, to) ? listBehind.value : "");
  // The list keeps its choices in the address.
  if (list) to.search = here.value.search;
  if (isLeft(to, list)) {
    if (isUnsaved() && !(await leaving.ask())) return false;
    unsaved.clear();
  }
  // As browsers do with a link to the page itself; Back closes a record beside a list, however many were shown there.
  const replace = isReplaced || to.href === here.value.href || (list !== "" && list === listBehind.value);
  if (list && !listBehind.value) openedFrom = here.value.href;
  tops.set(position, scrollY);
  history[replace ? "replaceState" : "pushState"]({ at: position + (replace ? 0 : 1), list }, "", to);
  const kept = listOf(to, list) === listOf() && states.get(position);
  position += replace ? 0 : 1;
  if (kept) states.set(position, kept);
  else if (!replace) states.delete(position);
  arrive(to, { list, isGlance });
  return true;
}

/** Close the record beside a list, which stays as it is. */
export function closeBeside() {
  const list = withChoices(listBehind.value);
  if (address(list) === openedFrom) history.back();
  else void navigate(list, { replace: true });
}

/** @param {string} list @param {URL} to @returns {boolean} */
const isRecordOf = (list, to) => to.pathname.startsWith(new URL(`${list}/`, HOME).pathname) && /\/\d+\/?$/.test(to.pathname);

/** The view that has the list, at this address. @param {URL} [to] @param {string} [list] */
const listOf = (to = here.value, list = listBehind.value) => list || pathOf(to);

/** Whether another view comes; within one, input stays, whatever the query says. @param {URL} to @param {string} list */
const isLeft = (to, list) => pathOf(to) !== path.value || list !== listBehind.value;

/** How far each entry of the browser's history was scrolled when it was left. @type {Map<number, number>} */
const tops = new Map();
/** The state of views that Back restores, by the entry of the browser's history. @type {Map<number, Map<string, any>>} */
const states = new Map();

/**
 * @template T
 * @param {string} name
 * @param {() => T} make
 * @returns {T} the value of the time when the view was first shown at this entry of the browser's history
 */
export function restored(name, make) {
  const found = states.get(position) ?? new Map();
  states.set(position, found);
  if (!found.has(name)) found.set(name, make());
  return found.get(name);
}
/** The scroll position for the current view, once it has been rendered. */
export let arrivalTop = 0;
/** Whether the heading of the current view has yet to get the focus. */
let isHeadingDue = false;

/** After a navigation, focus the heading as soon as it exists, so that screen readers begin with the new view. */
export function focusHeading() {
  // A field of the view in which somebody types by then keeps the focus.
  if (document.activeElement?.matches("#work :is(input, textarea, select)")) isHeadingDue = false;
  // The heading of the loading view takes the focus with it, unless `in_use.js` gave the focus to the drawer.
  const isLost = visits.peek() > 0 && document.activeElement?.matches("body, .sheet");
  // A record beside a list comes after it.
  const heading = (isHeadingDue || isLost) && [...document.querySelectorAll("#work h1")].at(-1);
  if (!(heading instanceof HTMLElement)) return;
  isHeadingDue = false;
  heading.focus({ preventScroll: true });
}

/** @param {URL} to @param {{top?: number, list?: string, isGlance?: boolean}} how */
function arrive(to, { top = 0, list = "", isGlance = false }) {
  const stays = listOf(to, list) === listOf() && list !== listBehind.value;
  arrivalTop = stays || (list && list === listBehind.value) ? scrollY : top;
  // Where a list stays when its record goes, the focus returns into it.
  isHeadingDue = !isGlance && (!stays || list !== "");
  batch(() => {
    here.value = to;
    listBehind.value = list;
    visits.value += 1;
  });
}

/** @param {string} name @param {string} [otherwise] @returns {string} what the query says */
export const query = (name, otherwise = "") => here.value.searchParams.get(name) ?? otherwise;

/** Write choices into the query; empty ones are removed from it. @param {Record<string, string>} choices */
export function setQuery(choices) {
  const to = new URL(here.value);
  for (const [name, value] of Object.entries(choices)) {
    if (value === "") to.searchParams.delete(name);
    else to.searchParams.set(name, value);
  }
  history.replaceState(history.state, "", to);
  here.value = to;
}

let position = Number(history.state?.at ?? 0);

/** Follow links and the browser's own Back and Forward. */
export function startRouter() {
  history.replaceState({ at: position }, "");
  // The browser would scroll before the view is rendered.
  history.scrollRestoration = "manual";
  addEventListener("pagehide", () => {
    history.scrollRestoration = "auto";
  });
  addEventListener("popstate", async (event) => {
    const at = new URL(location.href);
    // Opened in a tab that shows this view already, which the browser does not load again for that.
    if (isSiteLink(at)) return location.reload();
    if (event.state === null) {
      // A hash in the address has no meaning here: it is another step to the same view.
      position += 1;
      at.hash = "";
      history.replaceState({ at: position }, "", at);
      return;
    }
    const to = Number(event.state.at);
    // Our own step back to the view with unsaved input.
    if (to === position) return;
    const { list = "" } = event.state;
    if (isUnsaved() && isLeft(at, list)) {
      // The browser has left already: go back there first, and then ask.
      const by = to - position;
      history.go(-by);
      if (!(await leaving.ask())) return;
      unsaved.clear();
      history.go(by);
      return;
    }
    tops.set(position, scrollY);
    position = to;
    if (isLeft(at, list)) arrive(at, { top: tops.get(to) ?? 0, list });
    else here.value = at;
  });
  addEventListener("beforeunload", (event) => {
    if (isUnsaved()) event.preventDefault();
  });
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target.closest("a[href]") : null;
    if (!(target instanceof HTMLAnchorElement) || target.target || target.hasAttribute("download")) return;
    if (event.defaultPrevented || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    const to = new URL(target.href);
    if (to.origin !== HOME.origin || !to.pathname.startsWith(HOME.pathname) || to.hash) return;
    event.preventDefault();
    void navigate(to.href);
  });
}

/** Whether a key belongs to the field in which it was pressed. @param {KeyboardEvent} event */
export function isTyping(event) {
  const field = event.composedPath()[0];
  if (!(field instanceof HTMLElement)) return false;
  // Letters choose in a list, where no choice begins with a slash.
  if (field.matches("select")) return event.key !== "/";
  return field.matches("input:not([type=checkbox], [type=radio]), textarea, [contenteditable=true]");
}

/**
 * Addresses of views: paths below `/console/`, and in the query what a person chose there, so that both survive
 * reload, Back and a new tab.
 */
import { signal, computed, batch } from "./vendor/preact.js";
import { views } from "./views.js";

/** @typedef {import("./views.js").View} View */

/** Where the console is, under whatever prefix: modules are one folder below it. */
export const HOME = new URL("../", import.meta.url);

const here = signal(new URL(location.href));
/** Rises with each navigation that a person made, so that focus follows; not with a filter that changes. */
export const visits = signal(0);

const patterns = views.map((view) => ({ view, segments: view.path.split("/") }));

/** The view that the address names, with what fills its `:fields`; no view where there is none. */
export const place = computed(() => {
  const path = here.value.pathname.slice(HOME.pathname.length).replace(/\/$/, "");
  const parts = path.split("/");
  for (const { view, segments } of patterns) {
    if (segments.length !== parts.length) continue;
    /** @type {Record<string, string>} */
    const params = {};
    const fits = segments.every((segment, at) => {
      const part = parts[at] ?? "";
      if (!segment.startsWith(":")) return segment === part;
      params[segment.slice(1)] = part;
      // Ids are numbers, as the interface writes them (contract A2); anything else is no address of ours.
      return /^(0|[1-9]\d{0,9})$/.test(part) && Number(part) < 2 ** 31;
    });
    if (fits) return { view, params, path };
  }
  return { view: undefined, params: {}, path };
});

/** @param {string} path below the console, with its query @returns {string} what stands in `href` */
export const address = (path) => new URL(path, HOME).href;

/** @param {string} path as above @returns {boolean} whether it is where one is, with all that was chosen there */
export const isHere = (path) => address(path) === here.value.href;

/** @type {Set<() => boolean>} */
const unsaved = new Set();

/**
 * Ask before a view is left for which this tells that something is unsaved.
 * @param {() => boolean} isUnsaved
 * @returns {() => void} what ends it
 */
export function guard(isUnsaved) {
  unsaved.add(isUnsaved);
  return () => void unsaved.delete(isUnsaved);
}

export const isUnsaved = () => [...unsaved].some((each) => each());

/** Asks whether to leave unsaved work; the shell puts its dialog here. @type {{ask: () => Promise<boolean>}} */
export const leaving = { ask: async () => true };

/** @param {string} path @param {{replace?: boolean}} [how] @returns {Promise<boolean>} whether unsaved work did not keep the person */
export async function navigate(path, { replace: isReplaced = false } = {}) {
  const to = new URL(path, HOME);
  if (isLeft(to)) {
    if (isUnsaved() && !(await leaving.ask())) return false;
    unsaved.clear();
  }
  // As browsers do with a link to the page itself.
  const replace = isReplaced || to.href === here.value.href;
  history[replace ? "replaceState" : "pushState"]({ at: position + (replace ? 0 : 1) }, "", to);
  position += replace ? 0 : 1;
  arrive(to);
  return true;
}

/** Whether another view comes; within one, whatever the query says, all that is typed stays. @param {URL} to */
const isLeft = (to) => to.pathname.replace(/\/$/, "") !== here.value.pathname.replace(/\/$/, "");

/** @param {URL} to */
function arrive(to) {
  batch(() => {
    here.value = to;
    visits.value += 1;
  });
}

/** @param {string} name @param {string} [otherwise] @returns {string} what the query says */
export const query = (name, otherwise = "") => here.value.searchParams.get(name) ?? otherwise;

/**
 * Write choices into the query; what is empty goes from it.
 * @param {Record<string, string>} choices
 */
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
  addEventListener("popstate", async (event) => {
    const at = new URL(location.href);
    if (event.state === null) {
      // Somebody wrote a hash into the address, which means nothing here: it is one more step, to the same view.
      position += 1;
      at.hash = "";
      history.replaceState({ at: position }, "", at);
      return;
    }
    const to = Number(event.state.at);
    // Our own step back to what is unsaved.
    if (to === position) return;
    if (isUnsaved() && isLeft(at)) {
      // The browser has left already: go back there first, and then ask.
      const by = to - position;
      history.go(-by);
      if (!(await leaving.ask())) return;
      unsaved.clear();
      history.go(by);
      return;
    }
    position = to;
    if (isLeft(at)) arrive(at);
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

/** The frame of every view: the sidebar, the banner, the notices with undo, and the dialogs. */
import { h, useEffect, useErrorBoundary, useRef, signal } from "../../vendor/preact.js";
import { trouble } from "../../client.js";
import { asksAgain, enrolling, me, mustEnrol, pageConfig, state } from "../../session.js";
import { loadMoreTexts, t, withTexts } from "../../texts.js";
import { slow } from "../../network.js";
import { dismiss, notices } from "../../notices.js";
import { isMember } from "../../proposals.js";
import { isMeant, missingScope, place, placeBehind } from "../../place.js";
import { address, arrivalTop, closeBeside, FILES, focusHeading, isTyping, leaving, unsavedSave, visits } from "../../router.js";
import { Sidebar } from "./sidebar.js";
import { Dialogs, ask, choose } from "../primitives/dialog.js";
import { Button, CopyReference, Counted, EmptyState, Icon, IconButton, lazy, Link, LoadError, Skeleton, ViewHead } from "../primitives/basics.js";
import { useEvents, useLeft, useLoaded } from "../primitives/hooks.js";
import { STYLES } from "../../views.js";

leaving.ask = async () => {
  const save = unsavedSave();
  const question = { title: t("leave.title"), text: t("leave.text"), no: t("leave.no") };
  if (!save) return ask({ ...question, yes: t("leave.yes"), tone: "danger" });
  const answer = await choose({ ...question, other: t("leave.yes"), yes: t("save") });
  return answer === "yes" ? save() : answer === "other";
};

// Nothing to keep or to undo before that.
/** @param {Event} event Load what is needed from the first key or click on; what that does may be done by then. */
function use(event) {
  const way = event.composedPath();
  import("./in_use.js").then(({ begin }) => begin(way)).catch(() => undefined);
}
for (const what of ["keydown", "pointerdown"]) addEventListener(what, use, { once: true });

/** Whether the list of keys is shown. */
const help = signal(false);
/** The text typed into the search over everything before it was loaded; undefined unless it is shown. */
const searching = signal(/** @type {string | undefined} */ (undefined));
const showHelp = () => void (help.value = true);
const search = () => void (searching.value = "");

const SignIn = lazy(withTexts(() => import("../../pages/sign_in.js").then((module) => module.SignIn), "sign_in"));
const SignInAgain = lazy(withTexts(() => import("../../pages/sign_in.js").then((module) => module.SignInAgain), "sign_in"));
const Demanded = lazy(withTexts(() => Promise.all([import("../people/demanded.js"), loadStyle("people"), loadStyle("factors")]).then(([module]) => module.Demanded)));
const Palette = lazy(withTexts(() => Promise.all([import("./palette.js"), loadStyle("palette")]).then(([module]) => module.Palette)));
const Help = lazy(withTexts(() => import("./palette.js").then((module) => module.Help)));

export function Shell() {
  if (state.value === "starting") return null;
  if (state.value === "out" || !me.value) return [pageConfig.demo && h(Demo, {}), h(SignIn, {})];
  const around = [h(Progress, {}), h(Notices, {}), h(Dialogs, {}), (state.value === "ended" || asksAgain.value) && h(SignInAgain, {})];
  // Nothing else leads anywhere before that.
  if (me.value.must_change_password || mustEnrol.value || enrolling.value) return [pageConfig.demo && h(Demo, {}), h(Demanded, {}), ...around];
  return h("div", { class: "shell" },
    h("a", { class: "skip", href: "#work", onClick: skip }, t("skip")),
    h(Sidebar, { help: showHelp, search }),
    h(Work, {}),
    around,
    help.value && h(Help, { close: () => (help.value = false) }),
    searching.value !== undefined && h(Palette, { begin: searching.value, close: () => (searching.value = undefined), help: showHelp }),
  );
}

/** The current view; where it is a record that a list has opened beside it, then after that list. */
function Work() {
  useEvents(window, "keydown", keys);
  const behind = placeBehind.value;
  const first = behind ?? place.value;
  return h("main", { id: "work", class: behind ? "work has-sheet" : "work" },
    h(Banner, {}),
    h(Place, { key: first.path, ...first, isBehind: Boolean(behind) }),
    behind && h(Sheet, { key: "sheet" }),
  );
}

/** The drawer that a list has opened beside it; once closed, the focus is at its name in the list. */
function Sheet() {
  const last = useRef("");
  const { view, path } = place.value;
  last.current = path;
  useEvents(window, "keydown", (/** @type {KeyboardEvent} */ event) => {
    if (event.key !== "Escape" || event.defaultPrevented || isTyping(event) || document.querySelector("dialog[open]")) return;
    event.preventDefault();
    closeBeside();
  });
  useEffect(() => () => {
    // What had it is gone.
    if (document.activeElement !== document.body) return;
    /** @type {HTMLElement | null} */ (document.querySelector(`#work > .view a[href="${CSS.escape(address(last.current))}"]`))?.focus();
  }, []);
  return h("section", { class: "sheet", "aria-label": view && t(view.title) }, h(Place, { key: path, ...place.value }));
}

/** @param {MouseEvent} event */
function skip(event) {
  event.preventDefault();
  /** @type {HTMLElement | null} */ (document.querySelector("#work h1"))?.focus();
}

/** The sign that a request takes long. */
function Progress() {
  const text = slow.write.value ? t("working") : slow.read.value ? t("loading") : "";
  return h("div", { class: text ? "working" : "hidden", role: "status" }, h("span", { class: "hidden" }, text));
}

/** The banner for an unavailable service or network. */
function Banner() {
  const text = trouble.value ? t(`trouble.${trouble.value}`) : "";
  return [pageConfig.demo && h(Demo, {}), h("div", { class: text ? "banner" : "hidden", role: "status" }, text && h(Icon, { name: "WifiOff" }), text)];
}

/** The note on every view of a demo. */
function Demo() {
  return h("p", { class: "demo" }, t("demo"));
}

/** One view. @param {import("../../place.js").Place & {isBehind?: boolean}} props `isBehind`: something is beside it, and has the focus. */
function Place({ view, params, isBehind }) {
  const { found: page, problem } = useLoaded(() => loadView(view));
  const [failed, retry] = useErrorBoundary((error) => console.error(error));
  const visit = visits.value;
  useEffect(() => {
    // Not at the first look, where the browser puts the focus; and not before there is something to read.
    if (visit === 0 || (!page && !problem) || isBehind) return;
    scrollToArrival();
    focusHeading();
  }, [visit, page, problem]);
  // Those who review may submit as well.
  if (!view || (!isMeant(view) && isMember())) return h(EmptyState, { icon: "SearchX", whole: true, title: t("nowhere.title") }, h(Link, { to: "" }, t("nowhere.home")));
  const missing = missingScope(view);
  if (missing) return h(EmptyState, { icon: "Lock", whole: true, title: t("needsScope", { scope: missing }) });
  if (failed) return h(EmptyState, { icon: "CircleAlert", whole: true, title: t("broken.title") }, h("p", null, t("broken.text")), h(Button, { onClick: retry }, t("tryAgain")));
  if (problem) return h(LoadError, { problem });
  return page?.is ? h(page.is, { params, kind: view.kind }) : h("div", { class: "view" }, h(ViewHead, { title: t(view.title) }), h(Skeleton, {}));
}

/** @param {import("../../views.js").View | undefined} view @returns {Promise<any>} its page, with all that it needs */
async function loadView(view) {
  if (!view) return undefined;
  const [module] = await Promise.all([view.load(), view.isList || loadMoreTexts(view.texts), ...(view.styles ?? STYLES).map(loadStyle)]);
  return module.default;
}

/** Scroll to the top, or after Back to where the view was left, as soon as it is as long as it was then. */
function scrollToArrival(tries = 60) {
  const top = arrivalTop;
  scrollTo({ top, behavior: "instant" });
  if (tries > 0 && scrollY < top) requestAnimationFrame(() => top === arrivalTop && scrollToArrival(tries - 1));
}

/** Load a style sheet that only some views need; once loaded, it stays. @param {string} name @returns {Promise<void>} resolves once it is loaded */
function loadStyle(name) {
  const href = new URL(`style/${name}.css`, FILES).href;
  const there = [...document.styleSheets].some((sheet) => sheet.href === href);
  if (there) return Promise.resolve();
  const link = Object.assign(document.createElement("link"), { rel: "stylesheet", href });
  return new Promise((done, failed) => {
    link.onload = () => done();
    link.onerror = () => {
      link.remove();
      failed(new Error(href));
    };
    document.head.append(link);
  });
}

/** How long a notice is shown that is neither pointed at nor focused, in milliseconds. */
const SHOWN = 10_000;

/** Notices with undo, which screen readers announce. */
function Notices() {
  return h("div", { class: "notices" },
    h("div", { role: "status", "aria-live": "polite" }, notices.value.map((notice) => h(Notice, { key: notice.id, ...notice }))),
  );
}

/** @param {import("../../notices.js").Notice} props */
function Notice({ id, text, tone, action, until, words, stays, reference }) {
  const left = useLeft(until);
  const timer = useRef(/** @type {ReturnType<typeof setTimeout> | undefined} */ (undefined));
  const hold = () => clearTimeout(timer.current);
  const release = () => {
    hold();
    if (!stays) timer.current = setTimeout(() => dismiss(id), SHOWN);
  };
  useEffect(() => {
    release();
    return hold;
  }, []);
  const run = () => {
    if (left > 0) return;
    dismiss(id);
    action?.run();
  };
  return h("div", { class: `notice ${tone}`, onPointerEnter: hold, onPointerLeave: release, onFocusIn: hold, onFocusOut: release },
    h(Icon, { name: tone === "done" ? "CircleCheck" : "CircleAlert" }),
    h("div", { class: "notice-text" }, h("span", { dir: "auto" }, h(Counted, { text, until, left, words })), h(CopyReference, { id: reference })),
    action && h("button", { type: "button", class: "button notice-action", "aria-disabled": left > 0, "aria-keyshortcuts": action.shortcut, onClick: run }, action.text),
    h(IconButton, { icon: "X", label: t("close"), onClick: () => dismiss(id) }),
  );
}

/** The keys that every view has. @param {KeyboardEvent} event */
function keys(event) {
  // A dialog has keys of its own.
  if (event.defaultPrevented || document.querySelector("dialog[open]")) return;
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if (searching.value !== undefined) {
    if (hasModifier || event.key.length !== 1) return;
    event.preventDefault();
    searching.value += event.key;
    return;
  }
  if ((event.ctrlKey || event.metaKey) && !event.shiftKey && !event.altKey && event.code === "KeyK") {
    event.preventDefault();
    return search();
  }
  if (isTyping(event) || hasModifier) return;
  // Letters by their place, so that they work in every language of the keyboard.
  const key = event.code.startsWith("Key") && !event.shiftKey ? event.code.slice(3) : event.key;
  const target = document.querySelector(`#work [aria-keyshortcuts="${CSS.escape(key)}"]`);
  if (key === "?") showHelp();
  else if (target instanceof HTMLInputElement) {
    target.focus();
    target.select();
  } else if (target instanceof HTMLElement) target.click();
  else return;
  event.preventDefault();
}

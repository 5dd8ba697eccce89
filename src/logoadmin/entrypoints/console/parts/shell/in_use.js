/** The parts of the shell that are needed once somebody uses the page: the focus is kept, and Ctrl+Z undoes. */
import { undoLast } from "../../notices.js";
import { isTyping } from "../../router.js";

let hasBegun = false;

/** @param {EventTarget[]} way the path of the first event */
export function begin(way) {
  if (!hasBegun) keepFocus(way);
  hasBegun = true;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || !isUndo(event) || isTyping(event) || document.querySelector("dialog[open]")) return;
  if (undoLast()) event.preventDefault();
});

/** @param {KeyboardEvent} event @returns {boolean} whether it is Ctrl+Z: the letter, or its place where the keyboard has other letters */
function isUndo({ ctrlKey, metaKey, shiftKey, altKey, repeat, key, code }) {
  if (!(ctrlKey || metaKey) || shiftKey || altKey || repeat) return false;
  return /^[a-z]$/i.test(key) ? key.toLowerCase() === "z" : code === "KeyZ";
}

/** A view or a dialog that knows better where the focus goes has moved it by then, in milliseconds. */
const PATIENCE = 60;

/** Keeps the focus near the place where it was when the focused part of the page goes away, such as a button after its click. @param {EventTarget[]} used the path of the first event, whose target may be gone already */
function keepFocus(used) {
  const focused = wayOf(document.activeElement);
  /** The focused element and what it is in, from the inside out. @type {HTMLElement[]} */
  let way = focused[0] === document.body ? elementsOf(used) : focused;
  /** The same before the focus went to a notice, which is of no place. @type {HTMLElement[]} */
  let before = way;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let waiting;
  const entered = (/** @type {FocusEvent} */ event) => {
    const now = elementsOf(event.composedPath());
    if (!isNotice(now)) before = now;
    way = now;
  };
  const keep = () => {
    waiting = undefined;
    if (document.activeElement !== document.body || way[0]?.isConnected !== false) return;
    const place = (isNotice(way) ? before : way).find((each) => each.isConnected);
    const work = document.querySelector("#work");
    // Nothing but the view is left: its heading stands for it.
    const heading = work?.querySelector("h1");
    const target = place && work?.contains(place) && !place.contains(heading ?? work) ? place : heading;
    if (!(target instanceof HTMLElement)) return;
    if (target.tabIndex < 0 && !target.hasAttribute("tabindex")) target.tabIndex = -1;
    target.focus({ preventScroll: true });
  };
  const look = () => {
    if (document.activeElement === document.body && way[0]?.isConnected === false) waiting ??= setTimeout(keep, PATIENCE);
  };
  look();
  const observer = new MutationObserver(look);
  observer.observe(document.body, { childList: true, subtree: true });
  addEventListener("focusin", entered);
}

/** @param {EventTarget[]} path */
const elementsOf = (path) => path.filter((each) => each instanceof HTMLElement);

/** @param {HTMLElement[]} way */
const isNotice = (way) => way.some((each) => each.classList.contains("notices"));

/** @param {Element | null} element @returns {HTMLElement[]} */
function wayOf(element) {
  return element instanceof HTMLElement ? [element, ...wayOf(element.parentElement)] : [];
}

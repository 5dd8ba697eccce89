/** The way to a record: beside its list where there is room, else to its page; by Space the focus stays in the list. */
import { besideId, closeBeside, listBehind, navigate, path } from "../../router.js";

/** How long the arrow keys rest before the record at which they have arrived is read, in milliseconds. */
const REST = 150;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {number} id @returns {boolean} whether this record is shown beside the current list */
export const isBeside = (id) => besideId.value === id;

/** @param {HTMLAnchorElement} link Of a record. @param {boolean} [isGlance] */
function open(link, isGlance = false) {
  const list = listBehind.value || path.value;
  // Wide enough for both, see shell.css.
  const hasRoom = link.pathname.endsWith(`/${list}/${idOf(link)}`) && matchMedia("(width >= 1200px)").matches;
  void navigate(link.href, hasRoom ? { beside: list, isGlance } : {});
}

/** @param {HTMLAnchorElement} link */
const idOf = (link) => Number(link.pathname.split("/").at(-1));

/** Space shows a record, and hides it again. @param {HTMLAnchorElement} link */
export function glance(link) {
  if (isBeside(idOf(link))) closeBeside();
  else open(link, true);
}

/** The record beside the list follows the arrow keys. @param {() => HTMLAnchorElement | null | undefined} link */
export function follow(link) {
  clearTimeout(timer);
  if (!listBehind.value) return;
  timer = setTimeout(() => {
    const to = link();
    if (to && listBehind.value) open(to, true);
  }, REST);
}

/** A click anywhere on a row or a card. With a modifier, or to select text, it does nothing. @param {MouseEvent} event */
export function clicked(event) {
  const { target, currentTarget, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!(target instanceof Element && currentTarget instanceof Element)) return;
  const link = currentTarget.querySelector(".cell-link, [data-focus]");
  const within = target.closest("a, button, input, label");
  if (!(link instanceof HTMLAnchorElement) || (within && within !== link)) return;
  if (event.defaultPrevented || event.button !== 0 || ctrlKey || metaKey || shiftKey || altKey || getSelection()?.type === "Range") return;
  event.preventDefault();
  open(link);
}

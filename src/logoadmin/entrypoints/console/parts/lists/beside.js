/** A record beside its list, where there is room: by a click on its row, or by Space, which leaves the focus in the list. */
import { besideId, closeBeside, listBehind, navigate, path } from "../../router.js";

/** How long the arrow keys rest before the record at which they have arrived is read, in milliseconds. */
const REST = 150;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** @param {number} id @returns {boolean} whether this record is shown beside the current list */
export const isBeside = (id) => besideId.value === id;

/** @param {HTMLAnchorElement} link Of a record: it is followed where there is no room. @param {boolean} [isGlance] */
function open(link, isGlance = false) {
  const list = listBehind.value || path.value;
  // Wide enough for both, see shell.css.
  if (!link.pathname.endsWith(`/${list}/${idOf(link)}`) || !matchMedia("(width >= 1200px)").matches) return link.click();
  void navigate(link.href, { beside: list, isGlance });
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

/**
 * A click on a row or a card; its name is a link to the record alone. With a modifier, or to select text, it does nothing.
 *
 * @param {MouseEvent} event
 */
export function clicked(event) {
  const { target, currentTarget, ctrlKey, metaKey, shiftKey, altKey } = event;
  if (!(target instanceof Element && currentTarget instanceof Element)) return;
  const link = currentTarget.querySelector(".cell-link, [data-focus]");
  if (!(link instanceof HTMLAnchorElement) || (target !== link && target.closest("a, button, input, label"))) return;
  if (event.defaultPrevented || ctrlKey || metaKey || shiftKey || altKey || getSelection()?.type === "Range") return;
  if (target === link && (event.detail === 0 || isWithin(link, event))) return;
  event.preventDefault();
  open(link);
}

/** The link of a card reaches beyond its words. @param {Element} element @param {MouseEvent} event */
function isWithin(element, { clientX, clientY }) {
  const { left, right, top, bottom } = element.getBoundingClientRect();
  return clientX >= left && clientX <= right && clientY >= top && clientY <= bottom;
}

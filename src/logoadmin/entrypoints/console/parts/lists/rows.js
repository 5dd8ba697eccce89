/** The rows of a long list: only those in view are in the page, and a record opens beside it. */
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { besideId, closeBeside, listBehind, navigate, path } from "../../router.js";

/** Milliseconds without scrolling after which a page rests. */
const REST = 100;
/** The pixels in a rem, which grow with the font size in the settings of the browser. */
export const rem = () => parseFloat(getComputedStyle(document.documentElement).fontSize);
/** Screens a second beyond which nothing can be read: rows that rush past so fast are not made at all. */
const READABLE = 12;

/**
 * @typedef {object} Seen
 * @property {number} first
 * @property {number} last Not among the rows to make.
 * @property {number} width The available width, in rem.
 * @property {boolean} rests Whether the page has not scrolled for a moment: time for what costs requests.
 * @property {boolean} rushes Whether it scrolls too fast for anything to be made.
 */

/**
 * @param {import("../../vendor/preact.js").RefObject<HTMLElement | null>} element The whole list, as high as all rows.
 * @param {number} rowHeight In rem.
 * @param {(width: number) => number} rowsIn The number of rows of a list of this width in rem.
 * @returns {Seen}
 */
export function useWindowing(element, rowHeight, rowsIn) {
  const [seen, setSeen] = useState({ first: 0, last: 0, width: 0, rests: true, rushes: false });
  const look = useRef((/** @type {{rests?: boolean, rushes?: boolean}} */ _) => {});
  look.current = ({ rests = true, rushes = false }) => {
    const box = element.current?.getBoundingClientRect();
    if (!box) return;
    // Half a screen more on each side, so that nothing is missing while one scrolls.
    const spare = innerHeight / 2;
    const width = box.width / rem();
    const row = rowHeight * rem();
    const first = Math.max(0, Math.floor((-box.top - spare) / row));
    const last = Math.min(rowsIn(width), Math.ceil((innerHeight - box.top + spare) / row));
    const now = { first, last, width, rests, rushes };
    setSeen((was) => (JSON.stringify(was) === JSON.stringify(now) || (rushes && was.rushes) ? was : now));
  };
  useLayoutEffect(() => look.current({}), [rowsIn(seen.width), rowHeight]);
  useEffect(() => follow(element, (how) => look.current(how)), []);
  return seen;
}

/**
 * Look whenever the page scrolls or the list gets another width.
 * @param {import("../../vendor/preact.js").RefObject<HTMLElement | null>} element
 * @param {(how: {rests?: boolean, rushes?: boolean}) => void} look
 */
function follow(element, look) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  let top = scrollY;
  let at = performance.now();
  // A pressed node is not moved until it is released: the click would be lost.
  const rest = () => {
    if (element.current?.matches(":active")) timer = setTimeout(rest, REST);
    else look({});
  };
  const scrolled = () => {
    const now = performance.now();
    const speed = Math.abs(scrollY - top) / Math.max(1, now - at);
    // A single jump, as by the End key, is no rush: after it there is time.
    const rushes = now - at < 5 * REST && speed * 1000 > READABLE * innerHeight;
    top = scrollY;
    at = now;
    look({ rests: false, rushes });
    clearTimeout(timer);
    timer = setTimeout(rest, REST);
  };
  const resized = new ResizeObserver(() => look({}));
  if (element.current) resized.observe(element.current);
  addEventListener("scroll", scrolled, { passive: true });
  return () => {
    clearTimeout(timer);
    resized.disconnect();
    removeEventListener("scroll", scrolled);
  };
}

/** How long the arrow keys rest before the record at which they have arrived is read, in milliseconds. */
const ARRIVAL = 150;
/** @type {ReturnType<typeof setTimeout> | undefined} */
let timer;

/** The way to a record: beside its list where there is room, else to its page; by Space the focus stays in the list. @param {number} id @returns {boolean} whether this record is shown beside the current list */
export const isBeside = (id) => besideId.value === id;

/** @param {HTMLAnchorElement} link Of a record. @param {boolean} [isGlance] */
function open(link, isGlance = false) {
  const list = listBehind.value || path.value;
  // Wide enough for both, see shell.css.
  const hasRoom = link.pathname.endsWith(`/${list}/${idOf(link)}`) && matchMedia("(width >= 75rem)").matches;
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
export function followRecord(link) {
  clearTimeout(timer);
  if (!listBehind.value) return;
  timer = setTimeout(() => {
    const to = link();
    if (to && listBehind.value) open(to, true);
  }, ARRIVAL);
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

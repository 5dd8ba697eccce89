/** Which rows of a long list are in view: only these are in the page. */
import { useEffect, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";

/** Milliseconds without scrolling after which a page rests. */
const REST = 100;
/** Screens a second beyond which nothing can be read: rows that rush past so fast are not made at all. */
const READABLE = 12;

/**
 * @typedef {object} Seen
 * @property {number} first
 * @property {number} last Not among the rows to make.
 * @property {number} width What there is.
 * @property {boolean} rests Whether the page has not scrolled for a moment: time for what costs requests.
 * @property {boolean} rushes Whether it scrolls too fast for anything to be made.
 */

/**
 * @param {import("../../vendor/preact.js").RefObject<HTMLElement | null>} element The whole list, as high as all rows.
 * @param {number} rowHeight
 * @param {(width: number) => number} rowsIn How many rows there are in a list of that width.
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
    const first = Math.max(0, Math.floor((-box.top - spare) / rowHeight));
    const last = Math.min(rowsIn(box.width), Math.ceil((innerHeight - box.top + spare) / rowHeight));
    const now = { first, last, width: box.width, rests, rushes };
    setSeen((was) => (same(was, now) ? was : rushes && was.rushes ? was : now));
  };
  useLayoutEffect(() => look.current({}), [rowsIn(seen.width), rowHeight]);
  useEffect(() => follow(element, (how) => look.current(how)), []);
  return seen;
}

/** @param {Seen} a @param {Seen} b */
const same = (a, b) =>
  a.first === b.first && a.last === b.last && a.width === b.width && a.rests === b.rests && a.rushes === b.rushes;

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

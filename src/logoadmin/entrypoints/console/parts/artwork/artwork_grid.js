/**
 * Logos or themes as cards with the picture first, of which only those in view are in the page. Arrow keys move among them.
 *
 * Cards that leave the view are reused for those that enter it: scrolling neither creates nor moves nodes.
 */
import { h, useEffect, useLayoutEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { creditsOf, nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { clicked, followRecord, glance, isBeside, rem, useWindowing } from "../lists/rows.js";
import { SelectBox, selectUpTo } from "../lists/selection.js";
import { Link } from "../primitives/basics.js";
import { Picture } from "../primitives/picture.js";
import { States } from "./artwork_states.js";

/** @typedef {import("../../pages/artworks.js").Artwork} Artwork */

/** The least width of a card, and its height, in rem as all lengths here: the picture of a theme has about 16:10. */
const SIZES = { theme: [12.5, 11.75], logo: [10, 8.5] };
const GAP = 0.75;
/** The height of the bars that cover the grid at the top of the screen, or at its bottom. */
const BAR = 7;
/** @type {Record<string, (columns: number) => number>} */
const STEPS = {
  ArrowLeft: () => -1,
  ArrowRight: () => 1,
  ArrowUp: (columns) => -columns,
  ArrowDown: (columns) => columns,
  PageUp: (columns) => -3 * columns,
  PageDown: (columns) => 3 * columns,
  Home: () => -Infinity,
  End: () => Infinity,
};

/** @param {{kind: "logo" | "theme", artworks: Artwork[], selection: ListSelection}} props */
export function ArtworkGrid({ kind, artworks, selection }) {
  const [cardWidth, cardHeight] = /** @type {[number, number]} */ (SIZES[kind]);
  const id = (/** @type {any} */ artwork) => artwork[KINDS[kind].id];
  const card = useMemo(() => cardOf(kind, selection), [kind, selection]);
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [focused, setFocused] = useState(0);
  const places = useRef(/** @type {Map<number, number>} */ (new Map()));
  const pictures = useRef(new Set());
  const rowHeight = cardHeight + GAP;
  const columnsIn = (/** @type {number} */ width) => Math.max(1, Math.floor((width + GAP) / (cardWidth + GAP)));
  const rowsIn = (/** @type {number} */ width) => Math.ceil(artworks.length / columnsIn(width));
  const { first, last, width, rests, rushes } = useWindowing(element, rowHeight, rowsIn);
  const columns = columnsIn(width);
  const at = Math.min(focused, artworks.length - 1);
  const focus = useFocus(element, at);
  // Beside a record, a row has fewer cards; the card of that record stays in view.
  useEffect(() => {
    const beside = artworks.findIndex((artwork) => isBeside(id(artwork)));
    if (beside >= 0) show(element.current, Math.floor(beside / columns) * rowHeight, rowHeight);
  }, [columns]);

  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (placeOf(event) < 0) return;
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    // A checkbox handles Space itself.
    const link = event.target instanceof HTMLAnchorElement ? event.target : undefined;
    if (link && event.key === " ") glance(link);
    else if (link && event.code === "KeyX") selection.toggle(id(artworks[at]), event.shiftKey);
    else {
      const step = STEPS[event.key]?.(columns);
      if (step === undefined) return;
      const target = Math.max(0, Math.min(artworks.length - 1, at + step));
      selection.move(id(artworks[at]), id(artworks[target]), event.shiftKey);
      setFocused(target);
      focus();
      show(element.current, Math.floor(target / columns) * rowHeight, rowHeight);
      followRecord(() => element.current?.querySelector(`[data-at="${target}"] a`));
    }
    event.preventDefault();
  };

  const to = Math.min(last * columns, artworks.length);
  if (!rushes || places.current.size === 0) places.current = arranged(places.current, first * columns, to, at, rests);
  const cellWidth = (width - GAP * (columns - 1)) / columns;
  const cells = [...places.current].filter(([, index]) => index < artworks.length);
  return h(
    "div",
    {
      ref: element,
      class: rushes ? "grid rushing" : "grid",
      role: "list",
      "aria-label": t(`${kind}s.title`),
      style: { height: `${Math.max(0, rowsIn(width) * rowHeight - GAP)}rem` },
      onKeyDown: pressed,
      onClickCapture: (event) => {
        const artwork = artworks[placeOf(event)];
        if (event.shiftKey && artwork) selectUpTo(event, selection, id(artwork));
      },
      onFocusIn: (event) => placeOf(event) >= 0 && setFocused(placeOf(event)),
    },
    cells.map(([place, index]) => {
      const artwork = artworks[index];
      // Pictures of cards that scroll past quickly are never requested; those that were shown stay.
      if (rests) pictures.current.add(id(artwork));
      return h(
        "div",
        {
          key: place,
          class: "grid-cell",
          role: "listitem",
          "data-at": index,
          "aria-current": isBeside(id(artwork)) ? "true" : undefined,
          onClick: clicked,
          "aria-posinset": index + 1,
          "aria-setsize": artworks.length,
          style: {
            transform: `translate(${(index % columns) * (cellWidth + GAP)}rem, ${Math.floor(index / columns) * rowHeight}rem)`,
            width: `${cellWidth}rem`,
            height: `${cardHeight}rem`,
          },
        },
        h(card, { artwork, withPicture: pictures.current.has(id(artwork)), tabIndex: index === at ? 0 : -1 }),
      );
    }),
  );
}

/** @param {Event} event @returns {number} the index of the card in which it happened; -1 outside of cards */
function placeOf({ target }) {
  const cell = target instanceof Element ? target.closest("[data-at]") : null;
  return cell instanceof HTMLElement ? Number(cell.dataset.at) : -1;
}

/**
 * Give each artwork in view a place, which it keeps while in view; free places are reused.
 *
 * @param {Map<number, number>} places The index of each, in the order of the page.
 * @param {number} from
 * @param {number} to Not in view.
 * @param {number} focused Always in the page, since the focus must not vanish when its card scrolls away.
 * @param {boolean} rests Whether there is time to sort them by index, for screen readers.
 * @returns {Map<number, number>}
 */
function arranged(places, from, to, focused, rests) {
  const wanted = new Set(focused >= 0 ? [focused] : []);
  for (let index = from; index < to; index += 1) wanted.add(index);
  /** @type {number[]} */
  const free = [];
  for (const [place, index] of places) if (!wanted.delete(index)) free.push(place);
  let next = Math.max(-1, ...places.keys()) + 1;
  for (const index of wanted) places.set(free.shift() ?? next++, index);
  for (const place of free) places.delete(place);
  return rests ? new Map([...places].sort(([, a], [, b]) => a - b)) : places;
}

/**
 * The focus follows the card at which the arrow keys arrived, and stays on one whose node had to move.
 *
 * @param {import("../../vendor/preact.js").RefObject<HTMLElement | null>} element
 * @param {number} at
 * @returns {() => void} requests the focus for the next rendering
 */
function useFocus(element, at) {
  const wanted = useRef(false);
  const had = element.current?.contains(document.activeElement) ? document.activeElement : null;
  useLayoutEffect(() => {
    const lost = had instanceof HTMLElement && had.isConnected && document.activeElement === document.body;
    const found = lost && !wanted.current ? had : wanted.current && element.current?.querySelector(`[data-at="${at}"] [data-focus]`);
    wanted.current = false;
    if (found instanceof HTMLElement) found.focus({ preventScroll: true });
  });
  return () => void (wanted.current = true);
}

/** Scroll until a row is in view. @param {HTMLElement | null} element @param {number} offset @param {number} height */
function show(element, offset, height) {
  const bar = BAR * rem();
  const top = (element?.getBoundingClientRect().top ?? 0) + offset * rem();
  const beyond = top + height * rem() - innerHeight + bar;
  if (top < bar) scrollBy({ top: top - bar, behavior: "instant" });
  else if (beyond > 0) scrollBy({ top: beyond, behavior: "instant" });
}

/** A card is a component: it is only redrawn if one of its properties or a signal that it reads changes. @param {"logo" | "theme"} kind @param {ListSelection} selection */
function cardOf(kind, selection) {
  const { id } = KINDS[kind];
  /** @param {{artwork: any, withPicture: boolean, tabIndex: number}} props `tabIndex` applies to every element in it that can have the focus; the first of them has `data-focus`. */
  return ({ artwork, withPicture, tabIndex }) => {
    const authors = creditsOf(artwork);
    const selected = selection.ids.value.has(artwork[id]);
    return h("article", { class: `box card${artwork.active ? "" : " inactive"}${selected ? " selected" : ""}` },
      h(Picture, { kind, url: artwork.preview_url, shown: withPicture }),
      h(Link, { to: `${kind}s/${artwork[id]}`, class: "clip card-name", "data-focus": true, tabIndex, dir: "auto", title: artwork.name }, nameOf(kind, artwork)),
      h("div", { class: "clip card-about" }, h("bdi", null, artwork.target), authors && ` · ${authors}`),
      h(States, { kind, artwork }),
      h(SelectBox, { selection, id: artwork[id], name: nameOf(kind, artwork), tabIndex }),
    );
  };
}

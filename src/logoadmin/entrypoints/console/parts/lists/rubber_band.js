/**
 * A rectangle drawn with the mouse from empty space, which selects what it touches.
 *
 * @typedef {{left: number, right: number, top: number, bottom: number}} Rectangle In pixels, from the corner of the list.
 * @typedef {object} List
 * @property {HTMLElement} element
 * @property {import("./selection.js").Selection} selection
 * @property {(rectangle: Rectangle) => number[]} within The ids of what a rectangle touches.
 */

/** Where nothing else is: what is on a card, a row or a control begins no rectangle. */
const EMPTY = "html, body, .shell, .work, .view, .grid";
/** How far the mouse must move before it is a drag. */
const DRAG = 4;
/** How near the edges of the window the page scrolls, and by how many pixels a frame. */
const EDGE = 48;
const SCROLL = 12;

/** @param {() => List | undefined} list @returns {() => void} stops it */
export function startRubberBand(list) {
  /** @param {PointerEvent} event */
  const pressed = (event) => {
    const isEmpty = event.target instanceof Element && event.target.matches(EMPTY) && event.clientX < document.documentElement.clientWidth;
    const found = list();
    if (found && isEmpty && event.button === 0 && event.pointerType === "mouse") drag(found, event);
  };
  addEventListener("pointerdown", pressed);
  return () => removeEventListener("pointerdown", pressed);
}

/** @param {List} list @param {PointerEvent} begin */
function drag({ element, selection, within }, begin) {
  const [x, y] = [begin.pageX, begin.pageY];
  const before = selection.ids.value;
  const added = begin.ctrlKey || begin.metaKey || begin.shiftKey ? before : [];
  const band = Object.assign(document.createElement("div"), { className: "rubber-band" });
  const end = new AbortController();
  let at = begin;
  let frame = 0;
  const draw = () => {
    const by = at.clientY < EDGE ? -SCROLL : at.clientY > innerHeight - EDGE ? SCROLL : 0;
    scrollBy({ top: by, behavior: "instant" });
    const [pageX, pageY] = [at.clientX + scrollX, at.clientY + scrollY];
    const [left, right] = [Math.min(x, pageX), Math.max(x, pageX)];
    const [top, bottom] = [Math.min(y, pageY), Math.max(y, pageY)];
    Object.assign(band.style, { left: `${left}px`, top: `${top}px`, width: `${right - left}px`, height: `${bottom - top}px` });
    const box = element.getBoundingClientRect();
    const [listX, listY] = [box.left + scrollX, box.top + scrollY];
    selection.set([...added, ...within({ left: left - listX, right: right - listX, top: top - listY, bottom: bottom - listY })]);
    frame = requestAnimationFrame(draw);
  };
  const stop = () => {
    end.abort();
    cancelAnimationFrame(frame);
    band.remove();
  };
  const more = { signal: end.signal };
  addEventListener("selectstart", (event) => event.preventDefault(), more);
  addEventListener("pointermove", (event) => {
    at = event;
    if (frame || Math.max(Math.abs(event.pageX - x), Math.abs(event.pageY - y)) < DRAG) return;
    document.body.append(band);
    draw();
  }, more);
  addEventListener("pointerup", stop, more);
  addEventListener("pointercancel", stop, more);
  addEventListener("keydown", (event) => {
    if (event.key !== "Escape") return;
    event.preventDefault();
    stop();
    selection.set(before);
  }, { ...more, capture: true });
}

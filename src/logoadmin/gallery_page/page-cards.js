/** Cards in groups of whole rows, drawn as they are needed. */
import { h } from "./page-choices.js";
import { cardOf, text } from "./page-elements.js";

/** @typedef {import("./page-elements.js").Work} Work */

/** Cards drawn at once, to fill a screen; cards added in each idle period; and cards before the button for all. */
const FIRST = 24;
const STEP = 120;
const MOST = 240;
/** The rows of one group. */
const ROWS = 3;

const whenIdle = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ act) => setTimeout(act, 20));

/**
 * A list of cards that grows in idle periods, so that the first cards appear at once. After a few hundred, a button
 * offers all, so that the footer can be reached. The browser renders the groups in view. The arrow keys move in the list.
 */
export class Cards {
  #list = h("div", { role: "list", class: "wall", keydown: (event) => this.#move(event) });
  #more = h("button", { type: "button", class: "show-all", click: () => this.#showAll() });
  element = h("div", {}, this.#list, this.#more);
  /** @type {Map<string, HTMLElement>} the cards drawn so far, with their pictures */
  #drawn = new Map();
  /** @type {Work[]} */
  #works = [];
  /** The number of drawn cards. */
  count = 0;
  #columns = 0;
  #show = 0;
  /** Whether to show all cards. */
  isAll = false;

  constructor() {
    new ResizeObserver(() => {
      const columns = this.#measure();
      if (columns && columns !== this.#columns) this.show(this.#works, this.count);
    }).observe(this.#list);
  }

  /** @param {Work[]} works @param {number} [least] how many to draw at once */
  show(works, least = 0) {
    const focused = document.activeElement;
    const show = ++this.#show;
    this.#works = works;
    if (least > MOST) this.isAll = true;
    this.#columns = this.#measure();
    if (!this.#columns) return;
    this.#list.replaceChildren();
    this.count = 0;
    this.#draw(Math.max(least, FIRST));
    if (focused instanceof HTMLElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
    this.#list.style.setProperty("--group", `${this.#list.firstElementChild?.clientHeight}px`);
    this.#more.hidden = this.isAll || works.length <= MOST;
    this.#more.replaceChildren(text("showAll", works.length));
    const grow = () => {
      if (show === this.#show && this.#draw(this.count + STEP)) whenIdle(grow);
    };
    requestAnimationFrame(() => whenIdle(grow)); // visible cards are drawn first
  }

  #showAll() {
    const next = this.count;
    this.show(this.#works, next + STEP);
    this.#links()[next]?.focus({ preventScroll: true });
  }

  /** @param {number} end @returns {boolean} whether there are more to draw */
  #draw(end) {
    const most = Math.min(this.#works.length, this.isAll ? Infinity : MOST);
    while (this.count < Math.min(end, most)) {
      const works = this.#works.slice(this.count, Math.min(this.count + this.#columns * ROWS, most));
      this.#list.append(h("div", { role: "none", class: "cards" }, ...works.map((work) => this.#card(work))));
      this.count += works.length;
    }
    return this.count < most;
  }

  /** @param {Work} work */
  #card(work) {
    const key = JSON.stringify(work); // a changed work is drawn again
    const card = this.#drawn.get(key) ?? cardOf(work);
    this.#drawn.set(key, card);
    return card;
  }

  #links = () => [...this.#list.querySelectorAll("a")];

  /** @returns {number} the number of columns, or 0 while the list is not displayed */
  #measure() {
    if (!this.#list.clientWidth) return 0;
    const group = this.#list.firstElementChild ?? this.#list.appendChild(h("div", { class: "cards" }));
    return getComputedStyle(group).gridTemplateColumns.split(" ").length;
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const here = /** @type {Element} */ (event.target).closest("a");
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = this.#links();
    const sideways = getComputedStyle(this.#list).direction === "rtl" ? -1 : 1;
    const steps = { ArrowRight: sideways, ArrowLeft: -sideways, ArrowDown: this.#columns, ArrowUp: -this.#columns };
    const next = all[all.indexOf(here) + steps[/** @type {keyof typeof steps} */ (event.key)]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

/** The choice of targets and tags: chips with numbers for the largest, and a dialog with a search field for all. */
import { h, language } from "./page-choices.js";
import { byName, plain, text } from "./page-elements.js";

/** @typedef {import("./page-elements.js").Work} Work */

/** The number of chips that are always shown, and of rows that the dialog draws. */
const LARGEST = 5;
const ROWS = 200;

/** Values of which any number can be chosen. */
export class Facet {
  element;
  /** @type {Set<string>} */
  chosen = new Set();
  /** @type {string[]} the largest first */
  #values = [];
  /** @type {Map<string, number>} how many of the works that are shown have each value */
  #counts = new Map();
  /** @type {Map<string, HTMLElement>} */
  #chips = new Map();
  #row = h("div", { class: "chips" });
  #more = h("button", { type: "button", class: "chip", "aria-haspopup": "dialog", click: () => this.#open() });
  #search = h("input", { type: "search", autocomplete: "off", spellcheck: "false", input: () => this.#list() });
  #rows = h("ul", { role: "list" });
  /** @type {HTMLDialogElement} */
  #dialog;
  #name;
  #nameOf;
  #valuesOf;
  #changed;

  /**
   * @param {"Targets" | "Tags"} name
   * @param {(value: string) => string} nameOf the name of a value for people
   * @param {(work: Work) => string[]} valuesOf the values of a work
   * @param {() => void} changed called after each choice
   */
  constructor(name, nameOf, valuesOf, changed) {
    const title = text(name.toLowerCase());
    this.#name = name;
    this.#nameOf = nameOf;
    this.#valuesOf = valuesOf;
    this.#changed = changed;
    this.#search.placeholder = this.#search.ariaLabel = text(`search${name}`);
    this.#dialog = h(
      "dialog",
      { "aria-label": title, closedby: "any", close: () => this.#more.focus() },
      h("div", { class: "head" }, h("h2", {}, title), h("button", { type: "button", click: () => this.#dialog.close() }, text("done"))),
      this.#search,
      this.#rows,
    );
    this.element = h("div", { role: "group", class: "facet", "aria-label": title }, this.#row, this.#dialog);
  }

  /** @param {Work[]} works that match the other choices @param {Work[]} all which determine the largest values */
  show(works, all) {
    const totals = this.#counted(all);
    this.#values = [...totals.keys()].sort((a, b) => (totals.get(b) ?? 0) - (totals.get(a) ?? 0) || byName(this.#nameOf(a), this.#nameOf(b)));
    this.#counts = this.#counted(works);
    const largest = this.#values.slice(0, LARGEST);
    const shown = [...[...this.chosen].filter((value) => !largest.includes(value)), ...largest];
    const others = this.#values.filter((value) => !shown.includes(value)).length;
    this.#more.replaceChildren(text(`more${this.#name}`, others));
    const chips = [...shown.map((value) => this.#chip(value)), ...(others > 0 ? [this.#more] : [])];
    // Chips that stay in their place keep the focus, and the row keeps its scroll position.
    for (const [place, chip] of chips.entries()) {
      if (this.#row.children[place] !== chip) this.#row.insertBefore(chip, this.#row.children[place] ?? null);
    }
    while (this.#row.childElementCount > chips.length) this.#row.lastElementChild?.remove();
    this.#count();
    this.element.hidden = this.#values.length < 2 && this.chosen.size === 0;
  }

  /** @param {Work[]} works */
  #counted(works) {
    /** @type {Map<string, number>} */
    const counts = new Map();
    for (const value of works.flatMap(this.#valuesOf)) counts.set(value, (counts.get(value) ?? 0) + 1);
    return counts;
  }

  /** @param {string} value */
  #chip(value) {
    const chip = this.#chips.get(value) ?? h("button", { type: "button", class: "chip", click: () => this.#toggle(value) }, ...this.#named(value));
    this.#chips.set(value, chip);
    chip.ariaPressed = `${this.chosen.has(value)}`;
    return chip;
  }

  /** @param {string} value @returns {(Node | string)[]} its name and its number */
  #named = (value) => [h("bdi", {}, this.#nameOf(value)), " ", h("span", { class: "number", "data-of": value })];

  /** Write the numbers of chips and rows. */
  #count() {
    for (const number of /** @type {NodeListOf<HTMLElement>} */ (this.element.querySelectorAll("[data-of]"))) {
      number.replaceChildren((this.#counts.get(number.dataset.of ?? "") ?? 0).toLocaleString(language));
    }
  }

  /** @param {string} value */
  #toggle(value) {
    if (!this.chosen.delete(value)) this.chosen.add(value);
    this.#changed();
  }

  #open() {
    this.#search.value = "";
    this.#list();
    this.#dialog.showModal();
    // On a phone, a keyboard would cover half of the list.
    if (matchMedia("(pointer: fine)").matches) this.#search.focus();
  }

  #list() {
    const query = plain(this.#search.value.trim());
    const found = this.#values.filter((value) => plain(this.#nameOf(value)).includes(query));
    const rows = found.slice(0, ROWS).map((value) => {
      const box = h("input", { type: "checkbox", checked: this.chosen.has(value), change: () => this.#toggle(value) });
      return h("li", {}, h("label", {}, box, ...this.#named(value)));
    });
    const rest = found.length === 0 ? text("noMatch") : found.length > ROWS && text("typeForMore", found.length - ROWS);
    this.#rows.replaceChildren(...rows, h("li", { class: "hint", hidden: !rest }, rest));
    this.#count();
  }
}

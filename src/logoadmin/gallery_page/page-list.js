/** The list of all works: search, filters, order, and cards that are drawn as they are needed. */
import { cardOf, config, h, keyOf, targetName } from "./page-elements.js";
import { language } from "./page-language.js";
import { texts } from "./page-texts.js";

/** @typedef {import("./page-elements.js").Work} Work */
/** @typedef {{kind: string, q: string, target: string, sort: string}} Filter */

/** Cards drawn at once, which fill a screen, and cards added in each pause. */
const FIRST = 24;
const STEP = 120;
/** Of one group. */
const ROWS = 3;

/** @param {string} text @returns {string} without case and accents */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const whenIdle = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ act) => setTimeout(act, 20));

/** @param {Record<string, string | undefined>} query @returns {Filter} */
const filterOf = ({ kind = "", q = "", target = "", sort = "" }) => ({ kind, q, target, sort });

/**
 * A list of cards that grows in pauses, so that the first cards appear at once and the last ones can be scrolled to.
 * It consists of groups of whole rows, of which the browser draws those in sight. The arrow keys move in it.
 */
export class Cards {
  element = h("div", { role: "list", class: "wall", keydown: (event) => this.#move(event) });
  /** @type {Map<string, HTMLElement>} those that were drawn, with their pictures */
  #drawn = new Map();
  /** @type {Work[]} */
  #works = [];
  #count = 0;
  #columns = 0;
  #show = 0;

  constructor() {
    new ResizeObserver(() => {
      const columns = this.#measure();
      if (columns && columns !== this.#columns) this.show(this.#works, this.#count);
    }).observe(this.element);
  }

  /** @returns {number} how many are drawn */
  get count() {
    return this.#count;
  }

  /** @param {Work[]} works @param {number} [least] how many to draw at once; nothing is drawn while it is out of sight */
  show(works, least = 0) {
    const focused = document.activeElement;
    const show = ++this.#show;
    this.#works = works;
    this.#columns = this.#measure();
    if (!this.#columns) return;
    this.element.replaceChildren();
    this.#count = 0;
    this.#draw(Math.max(least, FIRST));
    if (focused instanceof HTMLElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
    const height = this.element.firstElementChild?.clientHeight;
    this.element.style.setProperty("--group", `${height}px`);
    const grow = () => {
      if (show !== this.#show || this.#count >= works.length) return;
      this.#draw(this.#count + STEP);
      whenIdle(grow);
    };
    requestAnimationFrame(() => whenIdle(grow)); // visible cards are drawn first
  }

  /** @param {number} end */
  #draw(end) {
    while (this.#count < Math.min(end, this.#works.length)) {
      const works = this.#works.slice(this.#count, this.#count + this.#columns * ROWS);
      this.element.append(h("div", { role: "none", class: "cards" }, ...works.map((work) => this.#card(work))));
      this.#count += works.length;
    }
  }

  /** @param {Work} work */
  #card(work) {
    const key = keyOf(work);
    const card = this.#drawn.get(key) ?? cardOf(work);
    this.#drawn.set(key, card);
    return card;
  }

  /** @returns {number} the columns, or 0 while it is not in the page */
  #measure() {
    if (!this.element.clientWidth) return 0;
    const group = this.element.firstElementChild ?? this.element.appendChild(h("div", { class: "cards" }));
    return getComputedStyle(group).gridTemplateColumns.split(" ").length;
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const here = /** @type {Element} */ (event.target).closest("a");
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = [...this.element.querySelectorAll("a")];
    const sideways = getComputedStyle(this.element).direction === "rtl" ? -1 : 1;
    const steps = { ArrowRight: sideways, ArrowLeft: -sideways, ArrowDown: this.#columns, ArrowUp: -this.#columns };
    const next = all[all.indexOf(here) + steps[/** @type {keyof typeof steps} */ (event.key)]];
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

/** The view `#/`, which is kept while others are shown. */
export class List {
  /** @type {Filter} */
  #filter = filterOf({});
  /** @type {Work[]} from the newest */
  #works = [];
  /** @type {Work[] | undefined} by name */
  #byName;
  /** @type {Map<Work, string>} what the search looks at, as soon as it does */
  #words = new Map();
  #cards = new Cards();
  #title = h("h1", { tabindex: "-1", dir: "auto" }, config.title);
  #summary = h("p", { class: "summary" });
  #masthead = h("div", { class: "masthead" }, this.#title, this.#summary);
  #found = h("p", { class: "found", role: "status" });
  #search = h("input", {
    type: "search",
    name: "q",
    placeholder: texts.search,
    "aria-label": texts.search,
    "aria-keyshortcuts": "/",
    autocomplete: "off",
    spellcheck: "false",
    enterkeyhint: "search",
  });
  #target = h("select", { name: "target", "aria-label": texts.target });
  #sort = h(
    "select",
    { name: "sort", "aria-label": texts.sort },
    h("option", { value: "" }, texts.newest),
    h("option", { value: "name" }, texts.byName),
  );
  #kinds = h(
    "fieldset",
    { class: "kinds" },
    h("legend", { class: "unseen" }, texts.kind),
    ...[["", texts.all], ["logos", texts.logos], ["themes", texts.themes]].map(([value, label]) =>
      h("label", {}, h("input", { type: "radio", name: "kind", value }), h("span", {}, label)),
    ),
  );
  #form = h(
    "form",
    { role: "search", class: "tools", input: () => this.#changed(), submit: (event) => event.preventDefault(), keydown: (event) => this.#leave(event) },
    h("div", { class: "field" }, this.#search, h("kbd", { "aria-hidden": "true" }, "/")),
    this.#kinds,
    h("div", { class: "choices" }, this.#target, this.#sort),
  );
  #nothing = h("div", { class: "state", hidden: true });
  element = h(
    "section",
    { class: "list", hidden: true },
    this.#masthead,
    this.#form,
    this.#found,
    h("h2", { class: "unseen" }, texts.works),
    this.#cards.element,
    this.#nothing,
  );

  /** @returns {string} the address of the list as it is filtered now */
  get address() {
    const { kind, ...others } = this.#filter;
    const query = new URLSearchParams(Object.entries(others).filter(([, value]) => value));
    return `#/${kind}${query.size ? `?${query}` : ""}`;
  }

  /** @param {string} kind @param {URLSearchParams} query what to show, from an address */
  open(kind, query) {
    const filter = filterOf({ kind, ...Object.fromEntries(query) });
    if (JSON.stringify(filter) === JSON.stringify(this.#filter)) return; // with all cards that were drawn
    this.#filter = filter;
    this.#search.value = this.#filter.q;
    this.#show();
  }

  /** @returns {number} how many cards are drawn */
  get count() {
    return this.#cards.count;
  }

  /** @param {Work[]} works all of the gallery, from the newest @param {number} [least] how many to draw at once */
  use(works, least = 0) {
    this.#works = works;
    this.#words.clear();
    this.#byName = undefined;
    const kinds = new Set(works.map(({ kind }) => kind));
    this.#kinds.hidden = kinds.size < 2;
    const logos = works.filter(({ kind }) => kind === "logo").length;
    const authors = new Set(works.flatMap(({ record }) => record.author_ids ?? [])).size;
    const counts = [
      logos > 0 && texts.logoCount(logos),
      works.length > logos && texts.themeCount(works.length - logos),
      authors > 0 && texts.authorCount(authors),
    ];
    this.#summary.replaceChildren(counts.filter(Boolean).join(" · "));
    const targets = [...new Set(works.map(({ record }) => record.target))];
    const options = targets.map((id) => ({ id, name: targetName(id) })).sort((a, b) => a.name.localeCompare(b.name, language));
    this.#target.replaceChildren(...[{ id: "", name: texts.everyTarget }, ...options].map(({ id, name }) => h("option", { value: id }, name)));
    this.#target.hidden = targets.length < 2;
    this.#show(Math.max(least, this.#cards.count));
  }

  /** Put the cursor into the search field. */
  search() {
    this.#search.select();
    this.#search.focus();
  }

  /** @param {string} address of a work, or none @returns {HTMLElement} its card, or the title */
  focusable(address) {
    return this.#cards.element.querySelector(`a[href="${address}"]`) ?? this.#title;
  }

  #changed() {
    const data = [...new FormData(this.#form)].map(([name, value]) => [name, `${value}`]);
    this.#filter = filterOf(Object.fromEntries(data));
    history.replaceState(history.state, "", this.address);
    this.#show();
    const { offsetTop, offsetHeight } = this.#masthead;
    if (scrollY > offsetTop + offsetHeight) scrollTo({ top: offsetTop + offsetHeight, behavior: "instant" });
  }

  /** @param {KeyboardEvent} event */
  #leave(event) {
    if (event.target !== this.#search) return;
    if (event.key === "Escape" && this.#search.value) {
      event.preventDefault();
      this.#search.value = "";
      this.#changed();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.#cards.element.querySelector("a")?.focus();
    }
  }

  /** @param {number} [least] */
  #show(least) {
    const { kind, q, target, sort } = this.#filter;
    this.#target.value = target;
    this.#sort.value = sort;
    for (const each of this.#kinds.querySelectorAll("input")) each.checked = each.value === kind;
    const words = plain(q).split(/\s+/).filter(Boolean);
    const { compare } = new Intl.Collator(language, { numeric: true });
    const all = sort === "name" ? (this.#byName ??= this.#works.toSorted((a, b) => compare(a.record.name, b.record.name))) : this.#works;
    const found = all.filter(
      (work) =>
        (!kind || kind === `${work.kind}s`) &&
        (!target || target === work.record.target) &&
        (words.length === 0 || words.every((word) => this.#wordsOf(work).includes(word))),
    );
    this.element.dataset.kind = kind;
    this.#cards.show(found, least);
    const isFiltered = found.length < all.length;
    this.#found.replaceChildren(isFiltered ? texts.found(texts.count(found.length), all.length.toLocaleString(language)) : "");
    this.#nothing.hidden = found.length > 0;
    this.#form.hidden = all.length === 0;
    if (found.length > 0) return;
    const clear = h("button", { type: "button", click: () => this.#clear() }, texts.clear);
    const way = config.submit ? h("a", { class: "button", href: config.submit }, texts.submit) : config.home && h("a", { class: "button", href: config.home }, texts.home);
    this.#nothing.replaceChildren(
      h("h2", {}, isFiltered ? texts.noMatch : texts.empty),
      h("p", {}, isFiltered ? texts.noMatchText : texts.emptyText),
      h("p", { class: "actions" }, (isFiltered ? clear : way) || ""),
    );
  }

  /** @param {Work} work */
  #wordsOf(work) {
    const known = this.#words.get(work) ?? plain([work.record.name, ...work.record.authors.map(({ username }) => username)].join("\n"));
    this.#words.set(work, known);
    return known;
  }

  #clear() {
    this.#form.reset();
    this.#search.value = this.#target.value = this.#sort.value = "";
    for (const each of this.#kinds.querySelectorAll("input")) each.checked = each.value === "";
    this.#changed();
    this.search();
  }
}

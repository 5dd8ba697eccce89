/** The list of all works: search, filters, order, and cards that are drawn as they are needed. */
import { cardOf, config, h, targetName } from "./page-elements.js";
import { language, texts } from "./page-texts.js";

/** @typedef {import("./page-elements.js").Work} Work */
/** @typedef {{kind: string, q: string, target: string, sort: string}} Filter */

/** What fills a large screen, and what is added in each pause afterwards. */
const FIRST = 48;
const STEP = 120;

/** @param {string} text @returns {string} without case and accents */
const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();
const whenIdle = globalThis.requestIdleCallback ?? ((/** @type {() => void} */ act) => setTimeout(act, 20));

/** @param {Record<string, string | undefined>} query @returns {Filter} */
const filterOf = ({ kind = "", q = "", target = "", sort = "" }) => ({ kind, q, target, sort });

/**
 * A list of cards that grows in pauses, so that the first ones are there at once and the last ones can be scrolled to.
 * The arrow keys move in it.
 */
export class Cards {
  element = h("ul", { class: "cards", keydown: (event) => this.#move(event) });
  /** @type {Map<string, HTMLLIElement>} those that were drawn, with their pictures */
  #drawn = new Map();
  #show = 0;

  /** @param {Work[]} works @param {number} [least] how many to draw at once */
  show(works, least = FIRST) {
    const show = ++this.#show;
    const focused = document.activeElement;
    const draw = (/** @type {Work} */ work) => {
      const card = this.#drawn.get(work.key) ?? cardOf(work);
      this.#drawn.set(work.key, card);
      return card;
    };
    this.element.replaceChildren(...works.slice(0, Math.max(least, FIRST)).map(draw));
    if (focused instanceof HTMLElement && this.element.contains(focused)) focused.focus({ preventScroll: true });
    const grow = () => {
      if (show !== this.#show || this.element.childElementCount >= works.length) return;
      const count = this.element.childElementCount;
      this.element.append(...works.slice(count, count + STEP).map(draw));
      whenIdle(grow);
    };
    whenIdle(grow);
  }

  /** @param {KeyboardEvent} event */
  #move(event) {
    const here = /** @type {Element} */ (event.target).closest("li");
    if (!here || event.altKey || event.ctrlKey || event.metaKey) return;
    const all = /** @type {HTMLLIElement[]} */ ([...this.element.children]);
    const columns = Math.max(1, all.findIndex((each) => each.offsetTop > (all[0]?.offsetTop ?? 0)));
    const sideways = getComputedStyle(this.element).direction === "rtl" ? -1 : 1;
    const steps = { ArrowRight: sideways, ArrowLeft: -sideways, ArrowDown: columns, ArrowUp: -columns };
    const step = steps[/** @type {keyof typeof steps} */ (event.key)];
    const next = step && all[all.indexOf(here) + step]?.querySelector("a");
    if (!next) return;
    event.preventDefault();
    next.focus();
  }
}

/** The view `#/`, which is kept while others are shown. */
export class List {
  /** @type {Filter} */
  #filter = filterOf({});
  /** @type {{work: Work, words: string}[]} from the newest */
  #works = [];
  /** @type {{work: Work, words: string}[] | undefined} by name */
  #byName;
  #cards = new Cards();
  #title = h("h1", { tabindex: "-1", dir: "auto" }, config.title);
  #summary = h("p", { class: "summary" });
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
    { class: "list" },
    h("div", { class: "masthead" }, this.#title, this.#summary),
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

  /** @param {Work[]} works all of the gallery, from the newest */
  use(works) {
    this.#works = works.map((work) => ({ work, words: plain([work.record.name, ...work.record.authors.map(({ username }) => username)].join("\n")) }));
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
    this.#show(this.#cards.element.childElementCount);
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
    if (scrollY > this.#form.offsetTop) scrollTo({ top: this.#form.offsetTop - 1, behavior: "instant" });
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
    const compare = new Intl.Collator(language, { numeric: true }).compare;
    const all = sort === "name" ? (this.#byName ??= this.#works.toSorted((a, b) => compare(a.work.record.name, b.work.record.name))) : this.#works;
    const found = all.filter(
      (each) =>
        (!kind || kind === `${each.work.kind}s`) &&
        (!target || target === each.work.record.target) &&
        words.every((word) => each.words.includes(word)),
    );
    this.element.dataset.kind = kind;
    this.#cards.show(found.map(({ work }) => work), least);
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

  #clear() {
    this.#form.reset();
    this.#search.value = this.#target.value = this.#sort.value = "";
    for (const each of this.#kinds.querySelectorAll("input")) each.checked = each.value === "";
    this.#changed();
    this.search();
  }
}

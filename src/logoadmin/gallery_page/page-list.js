/** The list of all works: search, kinds, targets, tags, order, and the cards. */
import { Cards } from "./page-cards.js";
import { language } from "./page-choices.js";
import { config, find, h, plain, targetName, text } from "./page-elements.js";
import { Facet } from "./page-facets.js";

/** @typedef {import("./page-elements.js").Work} Work */

const byName = new Intl.Collator(language, { numeric: true });
/** @param {Work} work */
const changedAt = ({ record }) => record.updated_at ?? record.created_at;
/** @type {Record<string, (a: Work, b: Work) => number>} besides from the newest */
const ORDERS = {
  updated: (a, b) => changedAt(b) - changedAt(a),
  name: (a, b) => byName.compare(a.record.name, b.record.name),
};

/** @param {Iterable<string>} values @returns {Map<string, number>} */
function counted(values) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const value of values) counts.set(value, (counts.get(value) ?? 0) + 1);
  return counts;
}
/** @param {Work} work */
const tagsOf = ({ record }) => record.details?.tags ?? [];
/** @param {Work[]} works */
const targetsIn = (works) => counted(works.map(({ record }) => record.target));
/** @param {Work[]} works */
const tagsIn = (works) => counted(works.flatMap(tagsOf));

export class List {
  #kind = "";
  /** Of all works, if they are of one kind. */
  #onlyKind = "";
  /** The kind of which the largest targets and tags are known. @type {string | undefined} */
  #counted;
  /** @type {Work[]} from the newest */
  #works = [];
  /** @type {Map<string, Work[]>} by the order that was asked for */
  #ordered = new Map();
  /** @type {Map<Work, string>} what the search looks at */
  #words = new Map();
  #cards = new Cards();
  element = find(".list");
  #masthead = find(".masthead");
  #form = find("form");
  #search = /** @type {HTMLInputElement} */ (find("[type=search]"));
  #sort = /** @type {HTMLSelectElement} */ (find(".tools select"));
  #kinds = find(".kinds");
  #clear = find(".found button");
  #nothing = find(".list > .state");
  #targets = new Facet("Targets", targetName, () => this.#changed());
  #tags = new Facet("Tags", (tag) => `#${tag}`, () => this.#changed());

  constructor() {
    find(".facets").append(this.#targets.element, this.#tags.element);
    this.#nothing.before(this.#cards.element);
    this.#search.placeholder = this.#search.ariaLabel ?? "";
    this.#form.addEventListener("input", () => this.#changed());
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#search.addEventListener("keydown", (event) => this.#leave(event));
    this.#clear.addEventListener("click", () => this.#reset());
  }

  /** @returns {string} the address of the list as it is filtered now */
  get address() {
    const query = new URLSearchParams();
    if (this.#search.value) query.set("q", this.#search.value);
    for (const target of this.#targets.chosen) query.append("target", target);
    for (const tag of this.#tags.chosen) query.append("tag", tag);
    if (this.#sort.value) query.set("sort", this.#sort.value);
    return `#/${this.#kind}${query.size ? `?${query}` : ""}`;
  }

  /** @returns {{all: boolean, count: number}} what is drawn, for a later visit of this entry of the history */
  get drawn() {
    return { all: this.#cards.isAll, count: this.#cards.count };
  }

  /** @param {string} hash of an address: what to show */
  open(hash) {
    const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const wanted = new URLSearchParams(query);
    this.#kind = path === "logos" || path === "themes" ? path : "";
    this.#search.value = wanted.get("q") ?? "";
    this.#sort.value = wanted.get("sort") ?? "";
    if (this.#sort.selectedIndex < 0) this.#sort.value = "";
    this.#targets.chosen = new Set(wanted.getAll("target"));
    this.#tags.chosen = new Set(wanted.getAll("tag"));
    for (const each of this.#kinds.querySelectorAll("input")) each.checked = each.value === this.#kind;
    this.#show();
  }

  /** @param {Work[]} works all of the gallery @param {{all: boolean, count: number}} [drawn] what to draw at once */
  use(works, drawn = this.drawn) {
    this.#works = works.sort((a, b) => b.record.created_at - a.record.created_at || b.id - a.id);
    this.#counted = undefined;
    this.#words.clear();
    this.#ordered.clear();
    this.#cards.isAll = drawn.all;
    const logos = works.filter(({ kind }) => kind === "logo").length;
    const authors = new Set(works.flatMap(({ record }) => record.author_ids ?? [])).size;
    const counts = [logos && text("logoCount", logos), works.length > logos && text("themeCount", works.length - logos), authors && text("authorCount", authors)];
    this.#onlyKind = logos === 0 ? "themes" : logos === works.length ? "logos" : "";
    this.#kinds.hidden = this.#onlyKind !== "";
    find(".facets").hidden = works.length < 2;
    find(".summary").replaceChildren(counts.filter(Boolean).join(" · "));
    this.element.hidden = false;
    this.#show(drawn.count);
  }

  /** Read what the search looks at before somebody types. */
  prepare() {
    for (const work of this.#works) this.#wordsOf(work);
  }

  /** Put the cursor into the search field. */
  search() {
    this.#search.select();
    this.#search.focus();
  }

  #changed() {
    this.#kind = this.#kinds.querySelector("input:checked")?.getAttribute("value") ?? "";
    this.#cards.isAll = false;
    history.replaceState(history.state, "", this.address);
    this.#show();
    const { offsetTop, offsetHeight } = this.#masthead;
    if (scrollY > offsetTop + offsetHeight) scrollTo({ top: offsetTop + offsetHeight, behavior: "instant" });
  }

  /** @param {KeyboardEvent} event */
  #leave(event) {
    if (event.key === "Escape" && this.#search.value) {
      event.preventDefault();
      this.#search.value = "";
      this.#changed();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.#cards.element.querySelector("a")?.focus();
    }
  }

  /** @param {number} [least] cards to draw at once */
  #show(least) {
    const found = this.#find();
    this.element.dataset.kind = this.#kind || this.#onlyKind;
    this.#cards.show(found, least);
    const isFiltered = found.length < this.#works.length;
    find(".found p").replaceChildren(isFiltered ? text("count", found.length) + text("ofAll", this.#works.length) : "");
    this.#clear.hidden = !isFiltered || found.length === 0;
    this.#nothing.hidden = found.length > 0;
    this.#form.hidden = this.#works.length === 0;
    if (found.length > 0) return;
    const clear = h("button", { type: "button", click: () => this.#reset() }, text("clear"));
    const way = config.submit ? h("a", { class: "button", href: config.submit }, text("submit")) : config.home && h("a", { class: "button", href: config.home }, text("home"));
    this.#nothing.replaceChildren(
      h("h2", {}, isFiltered ? text("noMatch") : text("empty")),
      h("p", {}, isFiltered ? text("noMatchText") : text("emptyText")),
      h("p", { class: "actions" }, (isFiltered ? clear : way) || ""),
    );
  }

  /** @returns {Work[]} what the choices leave: of any chosen target, with all chosen tags. The numbers follow. */
  #find() {
    const words = plain(this.#search.value).split(/\s+/).filter(Boolean);
    const targets = this.#targets.chosen;
    const tags = [...this.#tags.chosen];
    const ofKind = this.#inOrder().filter(({ kind }) => !this.#kind || this.#kind === `${kind}s`);
    const named = words.length === 0 ? ofKind : ofKind.filter((work) => words.every((word) => this.#wordsOf(work).includes(word)));
    const tagged = tags.length === 0 ? named : named.filter((work) => tags.every((tag) => tagsOf(work).includes(tag)));
    const found = targets.size === 0 ? tagged : tagged.filter(({ record }) => targets.has(record.target));
    if (this.#counted !== this.#kind) {
      this.#counted = this.#kind;
      this.#targets.use(targetsIn(ofKind));
      this.#tags.use(tagsIn(ofKind));
    }
    this.#targets.show(targetsIn(tagged));
    this.#tags.show(tagsIn(found));
    return found;
  }

  /** @returns {Work[]} */
  #inOrder() {
    const name = this.#sort.value;
    const order = ORDERS[name];
    if (!order) return this.#works;
    const ordered = this.#ordered.get(name) ?? this.#works.toSorted(order);
    this.#ordered.set(name, ordered);
    return ordered;
  }

  /** @param {Work} work */
  #wordsOf(work) {
    const { name, authors, details = {} } = work.record;
    const known = this.#words.get(work) ?? plain([name, ...authors.map(({ username }) => username), details.description ?? "", ...tagsOf(work)].join("\n"));
    this.#words.set(work, known);
    return known;
  }

  #reset() {
    this.open("#/");
    this.#changed();
    this.search();
  }
}

/** The list of all works: search, kinds, targets, tags, order, and the cards. */
import { Cards } from "./page-cards.js";
import { find, h } from "./page-choices.js";
import { byName, config, explanation, idOf, kindOf, linkTo, plain, targetName, text } from "./page-elements.js";
import { Facet } from "./page-facets.js";

/** @typedef {import("./page-elements.js").Work} Work */

/** @param {Work} work */
const changedAt = (work) => work.updated_at ?? work.created_at;
/** @type {(a: Work, b: Work) => number} */
const newest = (a, b) => b.created_at - a.created_at || idOf(b) - idOf(a);
/** @type {Record<string, typeof newest>} the orders other than the newest first */
const ORDERS = {
  updated: (a, b) => changedAt(b) - changedAt(a),
  name: (a, b) => byName(a.name, b.name),
};

/** @param {Work} work */
const tagsOf = ({ details }) => details?.tags ?? [];

/** @type {WeakMap<Work, string>} */
const WORDS = new WeakMap();

/** @param {Work} work @returns {string} its searchable text, computed once */
function wordsOf(work) {
  const { name, authors, details } = work;
  const words = WORDS.get(work) ?? plain([name, ...authors.map(({ username }) => username), details?.description, ...tagsOf(work)].join("\n"));
  WORDS.set(work, words);
  return words;
}

export class List {
  /** The kind of all works, if they have the same. */
  #onlyKind = "";
  /** @type {Work[]} */
  #works = [];
  /** The order in which they are sorted. @type {string | undefined} */
  #order;
  cards = new Cards();
  element = find(".list");
  #form = /** @type {HTMLFormElement} */ (find("form"));
  #fields = /** @type {{q: HTMLInputElement, kind: RadioNodeList, sort: HTMLSelectElement}} */ (/** @type {unknown} */ (this.#form.elements));
  #clear = find(".found button");
  #nothing = find(".list > .state");
  #targets = new Facet("Targets", targetName, ({ target }) => [target], () => this.#changed());
  #tags = new Facet("Tags", (tag) => `#${tag}`, tagsOf, () => this.#changed());

  constructor() {
    find(".facets").append(this.#targets.element, this.#tags.element);
    this.#nothing.before(this.cards.element);
    this.#fields.q.placeholder = this.#fields.q.ariaLabel ?? "";
    this.#form.addEventListener("input", () => this.#changed());
    this.#form.addEventListener("submit", (event) => event.preventDefault());
    this.#fields.q.addEventListener("keydown", (event) => this.#leave(event));
    this.#clear.addEventListener("click", () => this.#reset());
  }

  /** @returns {string} the address of the list as it is filtered now */
  get address() {
    const { q, kind, sort } = this.#fields;
    const query = new URLSearchParams();
    if (q.value) query.set("q", q.value);
    for (const target of this.#targets.chosen) query.append("target", target);
    for (const tag of this.#tags.chosen) query.append("tag", tag);
    if (sort.value) query.set("sort", sort.value);
    return `#/${kind.value}${query.size ? `?${query}` : ""}`;
  }

  /** @param {string} hash of the address of a list */
  open(hash) {
    const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
    const parameters = new URLSearchParams(query);
    const { q, kind, sort } = this.#fields;
    q.value = parameters.get("q") ?? "";
    const known = path === "logos" || path === "themes" ? path : "";
    for (const each of /** @type {Iterable<any>} */ (kind)) each.checked = each.value === known;
    sort.value = parameters.get("sort") ?? "";
    if (sort.selectedIndex < 0) sort.value = "";
    this.#targets.chosen = new Set(parameters.getAll("target"));
    this.#tags.chosen = new Set(parameters.getAll("tag"));
    this.#show();
  }

  /** @param {Work[]} works all works of the gallery @param {number} [least] cards to draw at once */
  use(works, least = this.cards.count) {
    this.#works = works;
    this.#order = undefined;
    const logos = works.filter((work) => kindOf(work) === "logo").length;
    const authors = new Set(works.flatMap(({ author_ids }) => author_ids ?? [])).size;
    const counts = [logos && text("logoCount", logos), works.length > logos && text("themeCount", works.length - logos), authors && text("authorCount", authors)];
    this.#onlyKind = logos === 0 ? "themes" : logos === works.length ? "logos" : "";
    find(".kinds").hidden = this.#onlyKind !== "";
    // A single work needs neither filters nor sorting.
    this.#form.hidden = find(".facets").hidden = find(".found").hidden = works.length < 2;
    find(".summary").replaceChildren(counts.filter(Boolean).join(" · "));
    this.element.hidden = false;
    this.#show(least);
  }

  /** Focus the search field. */
  search() {
    this.#fields.q.select();
    this.#fields.q.focus();
  }

  #changed() {
    this.cards.isAll = false;
    history.replaceState(history.state, "", this.address);
    this.#show();
    const { offsetTop, offsetHeight } = find(".masthead");
    if (scrollY > offsetTop + offsetHeight) scrollTo({ top: offsetTop + offsetHeight, behavior: "instant" });
  }

  /** @param {KeyboardEvent} event */
  #leave(event) {
    if (event.key === "Escape" && this.#fields.q.value) {
      event.preventDefault();
      this.#fields.q.value = "";
      this.#changed();
    } else if (event.key === "Enter" || event.key === "ArrowDown") {
      event.preventDefault();
      this.cards.element.querySelector("a")?.focus();
    }
  }

  /** @param {number} [least] cards to draw at once */
  #show(least) {
    const found = this.#find();
    this.element.dataset.kind = this.#fields.kind.value || this.#onlyKind;
    this.cards.element.hidden = found.length === 0;
    this.cards.show(found, least);
    const isFiltered = found.length < this.#works.length;
    find(".found p").replaceChildren(isFiltered ? text("count", found.length) + text("ofAll", this.#works.length) : "");
    this.#clear.hidden = !isFiltered || found.length === 0;
    this.#nothing.hidden = found.length > 0;
    if (found.length > 0) return;
    const clear = h("button", { type: "button", click: () => this.#reset() }, text("clear"));
    const link = linkTo("submit", config.submit) || linkTo("home", config.home);
    this.#nothing.replaceChildren(...(isFiltered ? explanation("h2", "noMatch", clear) : explanation("h2", "empty", link)));
  }

  /** @returns {Work[]} the works of any chosen target with all chosen tags, whose numbers are updated */
  #find() {
    const kind = this.#fields.kind.value;
    const words = plain(this.#fields.q.value).split(/\s+/).filter(Boolean);
    const targets = this.#targets.chosen;
    const tags = [...this.#tags.chosen];
    const order = this.#fields.sort.value;
    if (this.#order !== order) this.#works.sort((a, b) => ORDERS[order]?.(a, b) || newest(a, b));
    this.#order = order;
    const ofKind = this.#works.filter((work) => !kind || kind === `${kindOf(work)}s`);
    const named = words.length === 0 ? ofKind : ofKind.filter((work) => words.every((word) => wordsOf(work).includes(word)));
    const tagged = tags.length === 0 ? named : named.filter((work) => tags.every((tag) => tagsOf(work).includes(tag)));
    const found = targets.size === 0 ? tagged : tagged.filter(({ target }) => targets.has(target));
    this.#targets.show(tagged, ofKind);
    this.#tags.show(found, ofKind);
    return found;
  }

  #reset() {
    this.open("#/");
    this.#changed();
    this.search();
  }
}

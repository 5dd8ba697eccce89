/** The views of one work and of one author. */
import { cardOf, config, h, initials, isInstallable, pictureOf, stageOf, targetName } from "./page-elements.js";
import { Cards } from "./page-list.js";
import { dateOf, sizeOf, texts } from "./page-texts.js";

/** @typedef {import("./page-elements.js").Work} Work */
/** @typedef {import("./reader.js").Gallery} Gallery */
/** @typedef {import("./reader.js").Author} Author */

const STYLUS = "https://add0n.com/stylus.html";
/** How many other works of an author a work shows. */
const OTHERS = 4;

/** @param {Author[]} authors @returns {Node[]} links, with commas */
const linksTo = (authors) =>
  authors.flatMap(({ author_id, username }, index) => [
    document.createTextNode(index ? ", " : ""),
    h("a", { href: `#/authors/${author_id}` }, h("bdi", {}, username)),
  ]);

/** @param {Work} work @returns {HTMLElement} what its CSS does, one sentence an entry */
function effects({ record: { css } }) {
  const { imports = [], risks = [] } = css;
  const hosts = (css.hosts ?? []).filter((host) => host !== location.host && host !== config.host);
  const names = [...new Set(risks.map(({ risk }) => risk))];
  const items = [
    hosts.length === 0 && h("li", { class: "good" }, texts.contactsNobody),
    ...hosts.map((host) => h("li", { class: "note" }, texts.contacts(host))),
    ...imports.map(({ url }) => h("li", { class: "bad" }, texts.unpinned(url))),
    ...names.map((name) =>
      h("li", { class: name === "animation" ? "note" : "bad" }, texts.risks[/** @type {keyof typeof texts.risks} */ (name)] ?? texts.otherRisk(name)),
    ),
    !names.some((name) => name !== "animation") && h("li", { class: "good" }, texts.noRisks),
  ];
  return h("section", {}, h("h2", {}, texts.whatItDoes), h("ul", { class: "effects" }, ...items));
}

/** @param {Work} work @returns {HTMLElement} */
function guide(work) {
  const { kind, record } = work;
  const target = targetName(record.target);
  const steps = isInstallable(work)
    ? h(
        "ol",
        {},
        h("li", {}, texts.stepManager, h("a", { href: STYLUS, rel: "noreferrer" }, "Stylus"), "."),
        h("li", {}, texts.stepInstall),
        h("li", {}, texts.stepCopy),
      )
    : h("p", {}, kind === "logo" ? texts.copyLogo(target) : texts.copyTheme(target));
  const isRefused = record.css.risks?.some(({ risk }) => risk === "invalid");
  return h("section", {}, h("h2", {}, texts.howToUse), isRefused && h("p", {}, texts.notInstallable), steps);
}

/** @param {Work} work @returns {number} of its CSS */
const bytesOf = ({ record: { custom_css = "", custom_css_file } }) => custom_css_file?.size ?? new Blob([custom_css.trim()]).size;

/**
 * @param {Work} work
 * @param {Gallery} gallery
 * @returns {HTMLElement[]} the links and buttons to get it, and its CSS
 */
function ways(work, gallery) {
  const { kind, id, record } = work;
  const said = h("p", { class: "hint", role: "status" });
  const code = h("code", {}, record.custom_css ?? "");
  const size = sizeOf(bytesOf(work));
  const css = async () => (await gallery.css(record)) ?? "";
  /** Long CSS is downloaded when somebody wants to see it. */
  const show = () =>
    css().then(
      (text) => code.replaceChildren(text),
      () => code.replaceChildren(texts.noCss),
    );
  const source = h(
    "details",
    { toggle: show },
    h("summary", {}, texts.showCss(size)),
    h("pre", { dir: "ltr", tabindex: "0" }, code),
  );
  const copy = async () => {
    // The text may have to be downloaded first; a promise keeps the browser's leave to copy until then.
    const blob = css().then((text) => new Blob([text], { type: "text/plain" }));
    try {
      await navigator.clipboard.write([new ClipboardItem({ "text/plain": blob })]);
      said.replaceChildren(texts.copied);
    } catch {
      const text = await css().catch(() => undefined);
      said.replaceChildren(text === undefined ? texts.noCss : texts.copyFailed);
      if (text === undefined) return;
      code.replaceChildren(text);
      source.open = true;
    }
  };
  const canInstall = isInstallable(work);
  return [
    h(
      "div",
      { class: "ways" },
      canInstall && h("a", { class: "button main", href: `${kind}s/${id}.user.css` }, texts.install),
      h("button", { type: "button", class: canInstall ? "" : "main", click: copy }, texts.copy),
      said,
    ),
    source,
  ];
}

/** @param {Author} author @param {Work[]} works @returns {Work[]} theirs */
const worksOf = ({ author_id }, works) => works.filter(({ record }) => record.author_ids?.includes(author_id));

/**
 * @param {Work} work
 * @param {Work[]} works all, from the newest
 * @param {Gallery} gallery
 * @returns {HTMLElement}
 */
export function workView(work, works, gallery) {
  const { kind, record } = work;
  const { authors, name, created_at } = record;
  const alt = texts.pictureOf(name);
  const [buttons, source] = bytesOf(work) ? ways(work, gallery) : [];
  const others = authors.flatMap((author) => {
    const theirs = worksOf(author, works).filter((each) => each.address !== work.address);
    if (!theirs.length) return [];
    const [before, after] = texts.moreBy("\0").split("\0");
    return h(
      "section",
      { class: "more" },
      h(
        "h2",
        {},
        h("span", {}, before, h("bdi", {}, author.username), after),
        theirs.length > OTHERS && h("a", { href: `#/authors/${author.author_id}` }, texts.seeAll),
      ),
      h("div", { role: "list", class: "cards" }, ...theirs.slice(0, OTHERS).map(cardOf)),
    );
  });
  return h(
    "article",
    { class: "work" },
    h(
      "div",
      { class: "pictures" },
      h("div", { class: stageOf(work) }, pictureOf(work, { alt })),
      kind === "logo" &&
        h(
          "div",
          { class: "grounds" },
          ...[["light", texts.onLight], ["dark", texts.onDark]].map(([ground, label]) =>
            h("figure", {}, h("div", { class: `stage logo ${ground}` }, pictureOf(work)), h("figcaption", {}, label)),
          ),
        ),
    ),
    h(
      "div",
      { class: "label" },
      h("p", { class: "kicker" }, texts[kind], " · ", h("bdi", {}, targetName(record.target))),
      h("h1", { tabindex: "-1", dir: "auto" }, name),
      h("p", { class: "by" }, authors.length > 0 && `${texts.by} `, ...linksTo(authors)),
      h("p", { class: "hint" }, texts.added(dateOf(created_at))),
      ...(source ? [buttons, effects(work), guide(work), source] : [h("p", {}, texts.withoutCss)]),
    ),
    ...others,
  );
}

/** @param {Author} author @param {Work[]} works all, from the newest @returns {HTMLElement} */
export function authorView(author, works) {
  const theirs = worksOf(author, works);
  const logos = theirs.filter(({ kind }) => kind === "logo").length;
  const counts = [logos > 0 && texts.logoCount(logos), theirs.length > logos && texts.themeCount(theirs.length - logos)];
  const cards = new Cards();
  cards.show(theirs);
  return h(
    "section",
    { class: "author" },
    h(
      "div",
      { class: "masthead" },
      h("div", { class: "portrait" }, initials(author.username)),
      h("p", { class: "kicker" }, texts.author),
      h("h1", { tabindex: "-1", dir: "auto" }, author.username),
      h("p", { class: "summary" }, counts.filter(Boolean).join(" · ")),
    ),
    h("h2", { class: "unseen" }, texts.works),
    cards.element,
  );
}

/**
 * @param {string} title
 * @param {string[]} lines
 * @param {...(Node | false | null | undefined | "")} actions
 * @returns {HTMLElement} the element to show in place of a view
 */
export const stateView = (title, lines, ...actions) =>
  h(
    "section",
    { class: "state" },
    h("h1", { tabindex: "-1" }, title),
    ...lines.map((line) => h("p", {}, line)),
    h("p", { class: "actions" }, ...actions, config.home && h("a", { class: "button", href: config.home }, texts.home)),
  );

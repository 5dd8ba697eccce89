/** What all views are made of: elements, works, and their pictures and cards. */
import { texts } from "./page-texts.js";

/** @typedef {import("./reader.js").Logo & import("./reader.js").Theme} Artwork which has one of both ids */
/** @typedef {"logo" | "theme"} Kind */
/**
 * A logo or a theme.
 * @typedef {object} Work
 * @property {Kind} kind
 * @property {number} id
 * @property {string} address of its page
 * @property {Artwork & {picture?: Picture}} record
 */
/** @typedef {{path: string, thumbnail: string, width: number, height: number, ground?: "light" | "dark"}} Picture */
/** @typedef {Node | string | false | null | undefined} Child */

/** What index.html says about this gallery. */
export const config =
  /** @type {{title: string, home: ?string, submit: ?string, host?: string, targets: {id: string, name: string}[], keys: import("./reader.js").Key[], demo?: true}} */ (
    JSON.parse(document.getElementById("gallery")?.textContent ?? "")
  );
const TARGETS = new Map(config.targets.map((target) => [target.id, target]));
/** The long side of thumbnails in pixels. */
const THUMBNAIL = 320;

/** @param {string} target @returns {string} its name */
export const targetName = (target) => TARGETS.get(target)?.name ?? target;

/**
 * Make an element. Texts become text nodes, never markup.
 * @template {keyof HTMLElementTagNameMap} Name
 * @param {Name} name
 * @param {Record<string, string | number | boolean | undefined | ((event: any) => unknown)>} [attributes] functions listen to the event
 * @param {Child[]} children
 * @returns {HTMLElementTagNameMap[Name]}
 */
export function h(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : `${value}`);
  }
  element.append(...children.filter((child) => typeof child === "string" || child instanceof Node));
  return element;
}

/** @param {Kind} kind @param {Artwork} record @returns {Work} */
export function workOf(kind, record) {
  const id = kind === "logo" ? record.logo_id : record.theme_id;
  return { kind, id, address: `${kind}s/${id}/`, record: /** @type {Work["record"]} */ (record) };
}

/** @param {Work} work @returns {string} another one if its card has to be drawn again */
export function keyOf({ kind, id, record: { name, target, authors, preview_url, picture } }) {
  return [kind, id, name, target, picture?.path ?? preview_url, ...authors.map(({ username }) => username)].join("\0");
}

/** @param {string} name @returns {HTMLElement} what stands for a picture: up to two letters on a colour of their own */
function initials(name) {
  const words = name.normalize("NFKD").replace(/\p{M}/gu, "").match(/[\p{L}\p{N}]+/gu) ?? name.match(/\S/gu) ?? [];
  const letters = words.slice(0, 2).map((word) => [...word][0]).join("");
  const hue = [...name].reduce((sum, letter) => (sum * 31 + (letter.codePointAt(0) ?? 0)) % 360, 7);
  const element = h("span", { class: "initials", "aria-hidden": "true" }, letters.toUpperCase());
  element.style.setProperty("--hue", `${hue}`);
  return element;
}

/** How wide pictures are in cards. */
const SIZES = "(max-width: 30rem) 50vw, 22rem";

/** @param {Work} work @returns {HTMLImageElement} */
function pictureOf({ record }) {
  const { picture, preview_url, name } = record;
  const { width = 1, height = 1 } = picture ?? {};
  const thumbnail = Math.round(width * Math.min(1, THUMBNAIL / Math.max(width, height)));
  /** @type {HTMLImageElement} */
  const image = h("img", {
    alt: "",
    referrerpolicy: "no-referrer",
    loading: "lazy",
    decoding: "async",
    width: picture?.width,
    height: picture?.height,
    sizes: picture && SIZES,
    srcset: picture && `${picture.thumbnail} ${thumbnail}w, ${picture.path} ${width}w`,
    // What stands above must hold before the request begins.
    src: picture ? picture.path : preview_url,
    error: () => void image.replaceWith(initials(name)),
  });
  return image;
}

/** @param {Work} work @returns {string} the classes of what its picture lies on: for a logo, the ground that the picture says */
const stageOf = ({ kind, record }) => `stage ${kind} ${(kind === "logo" && record.picture?.ground) || ""}`;

/** @param {Work} work @returns {HTMLElement} */
export function cardOf(work) {
  const { kind, record, address } = work;
  // Each name is isolated: one that turns its direction turns no other.
  const authors = record.authors.flatMap(({ username }, index) => [index > 0 && ", ", h("bdi", {}, username)]);
  return h(
    "div",
    { role: "listitem", class: "card" },
    h(
      "a",
      { href: address },
      h("span", { class: stageOf(work) }, pictureOf(work)),
      h("span", { class: "name", dir: "auto" }, record.name),
      h(
        "span",
        { class: "line" },
        authors.length > 0 && h("span", { class: "who" }, ...authors),
        h("span", { class: "for" }, h("span", { class: "unseen" }, ` ${texts[kind]} `), h("bdi", {}, targetName(record.target))),
      ),
    ),
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

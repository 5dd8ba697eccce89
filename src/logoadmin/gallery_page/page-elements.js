/** The parts of the list: texts, elements, and the pictures and cards of works. */
import { ENLARGED, h, initials, language, limit, locale } from "./page-choices.js";

/** @typedef {import("./reader.js").Logo | import("./reader.js").Theme} Work */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text which may have plural forms */
/** @typedef {import("./page-choices.js").Child} Child */

/** The data about this gallery in index.html. */
export const config =
  /** @type {{title: string, home: ?string, submit: ?string, targets: {id: string, name: string}[], keys: import("./reader.js").Key[]}} */ (
    JSON.parse(document.getElementById("gallery")?.textContent ?? "")
  );
/** @type {Record<string, [Text, Text]>} in English and Russian */
const TEXTS = JSON.parse(document.getElementById("texts")?.textContent ?? "");
const rules = new Intl.PluralRules(language);
const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
export const byName = new Intl.Collator(language, { numeric: true }).compare;
const TARGETS = new Map(config.targets.map(({ id, name }) => [id, name]));
/** The long side of thumbnails in pixels. */
const THUMBNAIL = 320;
/** The number of colours for initials in place of a picture. */
const HUES = 12;

/** @param {string} name @param {string | number} [of] the value in it @returns {string} */
export function text(name, of = "") {
  const found = TEXTS[name]?.[language === "ru" ? 1 : 0] ?? "";
  const form = typeof found === "string" ? found : found[rules.select(Number(of))];
  return (form ?? "").replace("{}", of.toLocaleString(language));
}

/** @param {number} seconds Unix time */
export const dateOf = (seconds) => dates.format(seconds * 1000);

/** @param {string} words @returns {string} without case and accents */
export const plain = (words) => words.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

/** @param {string} target @returns {string} its name */
export const targetName = (target) => TARGETS.get(target) ?? target;

/** @param {string} name @param {?string} href @returns {Child} a link that looks like a button, if it leads anywhere */
export const linkTo = (name, href) => href && h("a", { class: "button", href }, text(name));

/** @param {"h1" | "h2"} level @param {string} name of two texts @param {Child[]} actions @returns {HTMLElement[]} the content in place of a view */
export const explanation = (level, name, ...actions) => [
  h(level, { tabindex: "-1" }, text(name)),
  h("p", {}, text(`${name}Text`)),
  h("p", { class: "actions" }, ...actions),
];

/** @param {Work} work */
export const kindOf = (work) => ("logo_id" in work ? "logo" : "theme");

/** @param {Work} work */
export const idOf = (work) => ("logo_id" in work ? work.logo_id : work.theme_id);

/** @param {string} name @returns {HTMLElement} up to two letters, with the same colour on all pages */
function initialsOf(name) {
  const words = plain(name).match(/[\p{L}\p{N}]+/gu) ?? name.match(/\S/gu) ?? [];
  const letters = words.slice(0, 2).map((word) => [...word][0]).join("");
  return initials(letters.toUpperCase(), [...name].reduce((sum, letter) => sum + (letter.codePointAt(0) ?? 0), 0) % HUES);
}

/** @param {Work} work @returns {HTMLElement} its picture, or initials if it has none or it cannot be loaded */
function pictureOf({ picture, preview_url, name }) {
  if (!picture && !preview_url) return initialsOf(name);
  const { path, thumbnail, width = 1, height = 1 } = picture ?? {};
  /** @type {HTMLImageElement} */
  const image = h("img", {
    alt: "",
    referrerpolicy: "no-referrer",
    loading: "lazy",
    decoding: "async",
    width: picture && width * ENLARGED,
    height: picture && height * ENLARGED,
    sizes: path && "(max-width: 40rem) 46vw, 22rem",
    srcset: path && `${path} ${width}w, ${thumbnail} ${Math.round(width * Math.min(1, THUMBNAIL / Math.max(width, height)))}w`,
    // After the attributes that must be set before the request begins.
    src: path ?? preview_url,
    error: () => image.replaceWith(initialsOf(name)),
    load: () => limit(image),
  });
  return image;
}

/** @param {Work} work @returns {HTMLElement} which is one link with the name of the work */
export function cardOf(work) {
  const { authors, created_at, updated_at, details: { description, version } = {}, name, picture, target } = work;
  const kind = kindOf(work);
  const ground = (kind === "logo" && picture?.ground) || "";
  // Each name is isolated, so that its text direction affects no other.
  const who = authors.flatMap(({ username }, index) => [index > 0 && ", ", h("bdi", {}, username)]);
  const date = dateOf(updated_at ?? created_at);
  return h(
    "div",
    { role: "listitem", class: "card" },
    h("span", { class: `stage ${kind} ${ground}` }, pictureOf(work)),
    h("h3", { class: "name" }, h("a", { href: `${kind}s/${idOf(work)}/`, dir: "auto" }, name)),
    h(
      "p",
      { class: "line" },
      who.length > 0 && h("span", { class: "who" }, ...who),
      h("span", { class: "for" }, h("span", { class: "unseen" }, ` ${text(kind)} `), h("bdi", {}, targetName(target))),
    ),
    description && h("p", { class: "description", dir: "auto" }, description),
    h("p", { class: "when" }, version && h("bdi", {}, version), h("span", {}, updated_at ? text("updatedOn", date) : date)),
  );
}

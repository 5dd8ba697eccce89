/**
 * How the fields of each kind are shown. The interface defines the fields, their types and limits; a field that is not
 * named here is added after the others.
 *
 * @typedef {"text" | "number" | "switch" | "url" | "css" | "password" | "scope" | "authors" | "target" | "role" |
 *   "avatar" | "text area" | "paragraph" | "markdown" | "tags" | "licence" | "screenshots" | "fixed" | "drop" | "choice" | "lifetime" | "mark" | "colour"} Widget
 * @typedef {object} Presentation
 * @property {string[]} order The fields of its form, in their order.
 * @property {string[]} [apart] Fields of the interface that the form leaves out.
 * @property {string[]} [rare] Those that are out of sight at first, because most do not need them; next to each other.
 * @property {Record<string, Widget>} widgets Where it is another one than the type says.
 * @property {string} name The field by which people know a record.
 * @property {Field[]} [links] What its form has beside the fields that the interface describes.
 */
import { KINDS } from "./records.js";
import { byName, enumeration, isolated, t } from "./texts.js";

/** Characters that are drawn, as the service judges new names; older names may have none. */
const VISIBLE = /[^\p{Z}\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u;

/** @param {KindName} kind @param {any} record @returns {string} its name, or words to read and click in place of one that shows nothing */
export function nameOf(kind, record) {
  const name = String(record?.[presentation[kind].name] ?? "");
  return name === "" || VISIBLE.test(name) ? name : t("name.invisible", { id: String(record[KINDS[kind].id]) });
}

/** @param {{authors: any[]}} artwork @returns {string} its authors by name */
export const creditsOf = ({ authors }) => authors.map((author) => isolated(nameOf("author", author))).join(", ");

/** A name, or a part of one, as searches compare it: whatever its case and normal form. @param {string} text */
export const searchForm = (text) => text.normalize("NFKD").toLowerCase().normalize("NFKC");

/** Who made an artwork, by their ids in their order; `authorship.js` writes it. @type {Field} */
const AUTHORS = {
  name: "authors",
  schema: { type: "array" },
  required: false,
  nullable: false,
  widget: "authors",
  read: (record) => record.authors?.map((/** @type {{author_id: number}} */ author) => author.author_id),
  isLink: true,
};

const RARE = ["text", "version", "licence", "homepage", "source", "support", "screenshots", "origin"].map((name) => `details.${name}`);

/** @type {Presentation} */
const ARTWORK = {
  order: ["name", "target", "active", "preview_url", "authors", "details.description", "details.tags", ...RARE, "custom_css"],
  rare: RARE,
  widgets: {
    preview_url: "url",
    custom_css: "css",
    target: "target",
    "details.description": "paragraph",
    "details.tags": "tags",
    "details.text": "markdown",
    "details.licence": "licence",
    "details.screenshots": "screenshots",
    "details.origin": "fixed",
  },
  links: [AUTHORS],
  name: "name",
};

/** @type {Record<KindName | "settings", Presentation>} */
export const presentation = {
  logo: ARTWORK,
  theme: ARTWORK,
  author: { order: ["username", "user_id"], widgets: {}, name: "username" },
  user: {
    order: ["username", "user_id", "role_id", "avatar", "password"],
    widgets: { password: "password", role_id: "role", avatar: "avatar" },
    name: "username",
  },
  role: { order: ["name", "scope"], widgets: { scope: "scope" }, name: "name" },
  settings: {
    order: ["gallery_title", "gallery_mark", "gallery_accent", "gallery_home", "submission_rules"],
    apart: ["picture_hosts", "gallery_targets"],
    widgets: { gallery_mark: "mark", gallery_accent: "colour", submission_rules: "text area" },
    name: "",
  },
};

const PREFIX = "details.";
/** The licences that creative works have most often, by their SPDX ids. */
export const LICENCES = ["CC0-1.0", "CC-BY-4.0", "CC-BY-SA-4.0", "CC-BY-NC-4.0", "CC-BY-NC-SA-4.0", "MIT", "Apache-2.0", "GPL-3.0-or-later", "MPL-2.0", "Unlicense"];

/**
 * @template {Record<string, any> | null | undefined} R
 * @param {R} record
 * @returns {R} with its details as fields of their own
 */
export function flat(record) {
  if (!record || !("details" in record)) return record;
  const { details, ...others } = record;
  return /** @type {R} */ ({ ...others, ...Object.fromEntries(Object.entries(details ?? {}).map(([name, value]) => [PREFIX + name, value])) });
}

/** @param {Record<string, any>} values @returns {Record<string, any>} as the interface wants them, with members of the details in an object */
export function nested(values) {
  const all = Object.entries(values);
  const members = all.filter(([name]) => name.startsWith(PREFIX)).map(([name, value]) => [name.slice(PREFIX.length), value]);
  const others = all.filter(([name]) => !name.startsWith(PREFIX));
  return Object.fromEntries(members.length > 0 ? [...others, ["details", Object.fromEntries(members)]] : others);
}

/** @param {Record<string, any>} record @param {any} patch Of its details. @returns {Record<string, any>} with the members that the patch has (RFC 7396) */
export function withDetails(record, patch) {
  const { details, ...others } = record;
  const kept = Object.entries(patch === null ? {} : { ...details, ...patch }).filter(([, value]) => value !== null && value?.length !== 0);
  return kept.length > 0 ? { ...others, details: Object.fromEntries(kept) } : others;
}

/** The most tags of an artwork, and the most characters of one (contract S1). */
export const MOST_TAGS = 10;
export const LONGEST_TAG = 32;

/** @param {string} text @returns {string[]} the tags in it, between commas, as the service keeps them */
export const tagsIn = (text) => [...new Set(text.split(",").map((tag) => tag.toLowerCase().normalize("NFC").trim().replace(/\s+/g, " ")).filter(Boolean))];

/** @param {readonly {details?: any}[]} records Artworks. @returns {string[]} the tags that they have */
export const tagsOf = (records) => [...new Set(records.flatMap(({ details }) => /** @type {string[]} */ (details?.tags ?? [])))].toSorted(byName);

/** How many are said by name. */
const NAMED = 3;

/** @param {KindName} kind @param {any[]} records @returns {string} the first ones by name */
export function namesOf(kind, records) {
  const names = records.slice(0, NAMED).map((record) => nameOf(kind, record));
  const more = records.length - names.length;
  return enumeration([...names, ...(more > 0 ? [t("andMore", { n: more })] : [])]);
}

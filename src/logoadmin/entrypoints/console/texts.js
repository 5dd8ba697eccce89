/** Texts, numbers and dates in the user's language. A text has `{name}` where a value goes. One that depends on a number is an object of plural forms, chosen by `n`. */
import { signal } from "./vendor/preact.js";

/**
 * @typedef {typeof import("./texts/en/lists.js").default & typeof import("./texts/en/others.js").default
 *   & typeof import("./texts/en/publication.js").default & typeof import("./texts/en/proposals.js").default
 *   & typeof import("./texts/en/service.js").default & typeof import("./texts/en/sign_in.js").default
 *   & typeof import("./texts/en/factors.js").default & typeof import("./texts/en/bulk.js").default} Texts
 */
/** @typedef {keyof Texts} TextKey */
/** @typedef {string | Partial<Record<Intl.LDMLPluralRule, string>>} Text */
/** @template T @typedef {Record<keyof T, Text>} Translated What a module of texts has in another language. */
/** @typedef {"en" | "ru"} Language */

const CHOSEN = "logoadmin.language";
export const LANGUAGES = /** @type {const} */ ({ en: "English", ru: "Русский" });

/** @type {Signal<Language>} */
export const language = signal("en");
/** @type {Signal<Record<string, Text>>} */
const texts = signal({});
/**
 * The modules of texts: those of lists; those used only by selected records, by proposals, by the overview and the
 * publication, by the service as a whole, by signing in, or by roles and accounts; and all others. The view decides
 * which are loaded: the others are more than three times as many as those of lists.
 * @typedef {"lists" | "others" | "bulk" | "proposals" | "publication" | "service" | "sign_in" | "factors"} TextPart
 */
/** @type {Set<TextPart>} */
const wanted = new Set(["lists"]);
let loaded = 0;

/** @returns {Language} what was chosen, or else what the browser prefers of what there is. */
function preferred() {
  const known = Object.keys(LANGUAGES);
  const wanted = [localStorage.getItem(CHOSEN) ?? "", ...navigator.languages].map((tag) => tag.slice(0, 2));
  return /** @type {Language} */ (wanted.find((tag) => known.includes(tag)) ?? "en");
}

/** Load the texts. @param {Language} chosen @returns {Promise<void>} */
async function load(chosen) {
  // The bundle would have a table of all texts for a template as the argument.
  const parts = await Promise.all([...wanted].map((part) => `./texts/${chosen}/${part}.js`).map((file) => import(file)));
  // Another part was asked for meanwhile: what has it may be shown already.
  if (parts.length < wanted.size) return load(chosen);
  texts.value = Object.assign({}, ...parts.map((part) => part.default));
  loaded = parts.length;
  language.value = chosen;
  document.documentElement.lang = chosen;
}

/** @param {(TextPart | false)[]} parts Those that are needed besides the texts of the lists. */
export function loadTexts(...parts) {
  for (const part of parts) if (part) wanted.add(part);
  return load(preferred());
}

/** Load texts that the lists do not have, if they are missing. @param {TextPart} [part] More than the others. */
export async function loadMoreTexts(part = "others") {
  wanted.add(part);
  // Nobody waits for more than that to sign in.
  if (part !== "sign_in") wanted.add("others");
  if (loaded < wanted.size) await load(language.value);
}

/**
 * A part that is loaded with the texts that the lists do not have (see `tools/console/modules.js`).
 *
 * @template T
 * @param {() => Promise<T>} load
 * @param {TextPart} [part]
 * @returns {() => Promise<T>}
 */
export const withTexts = (load, part) => async () => (await Promise.all([load(), loadMoreTexts(part)]))[0];

/** @param {Language} chosen */
export function chooseLanguage(chosen) {
  localStorage.setItem(CHOSEN, chosen);
  return load(chosen);
}

/**
 * @param {TextKey} key
 * @param {Record<string, string | number>} [values] A number is written as the language writes it; a text from
 *   elsewhere is isolated, so that its direction of writing changes nothing around it.
 */
export function t(key, values = {}) {
  const text = texts.value[key] ?? key;
  const form = typeof text === "string" ? text : (text[plural(Number(values.n))] ?? text.other ?? key);
  return form.replace(/\{(\w+)\}/g, (whole, name) => {
    const value = values[name];
    if (value === undefined) return whole;
    return typeof value === "number" ? number(value) : `\u2068${value}\u2069`;
  });
}

/** @param {string} text @returns {string} without the marks that isolate values in it, for what leaves the page */
export const withoutMarks = (text) => text.replace(/[\u2068\u2069]/g, "");

/** @type {Map<string, any>} */
const formats = new Map();

/**
 * @template T
 * @param {string} name
 * @param {(language: Language) => T} make
 * @returns {T}
 */
function format(name, make) {
  const key = `${language.value} ${name}`;
  if (!formats.has(key)) formats.set(key, make(language.value));
  return formats.get(key);
}

/** @param {number} n */
const plural = (n) => format("plural", (tag) => new Intl.PluralRules(tag)).select(n);
/** @param {number} value */
export const number = (value) => format("number", (tag) => new Intl.NumberFormat(tag)).format(value);
/** @param {string} name @returns {string} one whose direction of writing changes nothing around it; most have no need of marks */
export const isolated = (name) => (/[\u0590-\u08ff\u200f\u202a-\u202e\u2066-\u2068\ufb1d-\ufefc]/.test(name) ? `\u2068${name}\u2069` : name);
/** @param {string[]} names */
export const enumeration = (names) => format("list", (tag) => new Intl.ListFormat(tag)).format(names.map(isolated));
/** @param {string[]} names */
export const alternatives = (names) => format("or", (tag) => new Intl.ListFormat(tag, { type: "disjunction" })).format(names);
/** @param {string} a @param {string} b */
export const byName = (a, b) => format("order", (tag) => new Intl.Collator(tag, { numeric: true })).compare(a, b);

/** @param {number} seconds Unix time */
export const exactTime = (seconds) =>
  format("exact", (tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium", timeStyle: "medium" })).format(seconds * 1000);

/** @param {number} seconds Unix time */
export const day = (seconds) =>
  format("day", (tag) => new Intl.DateTimeFormat(tag, { dateStyle: "medium" })).format(seconds * 1000);

/** @param {number} seconds Unix time @returns {string} the day, as a heading */
export function dayWords(seconds) {
  const ago = Math.round((Date.now() / 1000 - seconds) / 86_400 - 0.5);
  const date = format("weekday", (tag) => new Intl.DateTimeFormat(tag, { dateStyle: "full" })).format(seconds * 1000);
  if (ago !== 0 && ago !== 1) return date;
  return `${format("relative", (tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" })).format(-ago, "day")} · ${date}`;
}

/** @type {[Intl.RelativeTimeFormatUnit, number][]} */
const UNITS = [["year", 31_557_600], ["month", 2_629_800], ["week", 604_800], ["day", 86_400], ["hour", 3600], ["minute", 60]];

/** A past or future time relative to now, as text. @param {number} seconds Unix time */
export function relativeTime(seconds) {
  const away = seconds - Date.now() / 1000;
  const [unit, length] = UNITS.find(([, length]) => Math.abs(away) >= length) ?? ["second", 1];
  const words = format("relative", (tag) => new Intl.RelativeTimeFormat(tag, { numeric: "auto" }));
  return words.format(unit === "second" ? 0 : Math.round(away / length), unit);
}

/**
 * The details of an artwork (contract S1) as fields of their own: `details.tags` of a form is the member `tags` of the
 * record's `details`. So forms, differences and merges treat each member like any other field.
 */
import { byName } from "./texts.js";

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

/** @param {string} text @returns {string[]} the tags in it, between commas, as the service keeps them */
export const tagsIn = (text) => [...new Set(text.split(",").map((tag) => tag.toLowerCase().normalize("NFC").trim().replace(/\s+/g, " ")).filter(Boolean))];

/** @param {readonly {details?: any}[]} records Artworks. @returns {string[]} the tags that they have */
export const tagsOf = (records) => [...new Set(records.flatMap(({ details }) => /** @type {string[]} */ (details?.tags ?? [])))].toSorted(byName);

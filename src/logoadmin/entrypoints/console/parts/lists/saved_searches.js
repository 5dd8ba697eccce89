/** Searches that the user has saved by name, as they stand in the preferences (contract J8). */
import { preferences } from "../../preferences.js";
import { shared } from "../../shared_settings.js";

/** The part of the address that one consists of. */
export const CHOICES = ["q", "target", "active", "state", "author", "host", "changed", "order"];

/** @typedef {{name: string, query: Record<string, string>}} SavedView */

/** @param {(name: string) => unknown} value @returns {Record<string, string>} every choice, empty where there is none */
export const choices = (value) => Object.fromEntries(CHOICES.map((name) => [name, typeof value(name) === "string" ? String(value(name)) : ""]));

/** @param {string} list Its path. @returns {string} the preference that has them */
export const preferenceOf = (list) => ["views", list].join(".");

/** @param {string} list @returns {SavedView[]} */
export function viewsOf(list) {
  const found = preferences.value[preferenceOf(list)];
  const valid = Array.isArray(found) ? found.filter((each) => typeof each?.name === "string" && typeof each.query === "object" && each.query) : [];
  return valid.map((each) => ({ name: each.name, query: choices((name) => each.query[name]) }));
}

/** @param {string} list @returns {SavedView[]} those for everybody */
export function sharedViewsOf(list) {
  const found = (shared.value?.views ?? []).map(({ name, address }) => ({ name, url: new URL(address, "https://x.invalid/") }));
  return found.flatMap(({ name, url }) => (url.pathname === `/${list}` ? [{ name, query: choices((each) => url.searchParams.get(each)) }] : []));
}

/** @param {string} list @param {SavedView} view @returns {string} where it is */
export const addressOf = (list, view) => `${list}?${new URLSearchParams(Object.entries(view.query).filter(([, value]) => value))}`;

/** @param {SavedView} view @param {(name: string) => unknown} value @returns {boolean} whether its choices are these */
export const isShown = (view, value) => CHOICES.every((name) => view.query[name] === choices(value)[name]);

/**
 * The names of rights, and which ones a change grants and withdraws (contract B3, B4).
 *
 * A scope is a list of words such as `logos:write`. `*` is all of them, also those that are added later; unknown words
 * belong to other services.
 */
import { me } from "./session.js";
import { t } from "./texts.js";

export const ALL = "*";
/** The role of new users (contract A12), which cannot be removed. */
export const FIRST_ROLE = 1;
/** The rights that protect each kind of record; a kind without `see` needs none to be read. */
export const RIGHTS = /** @type {const} */ ([
  { kind: "logos", title: "logos.title", see: "", change: "logos:write" },
  { kind: "themes", title: "themes.title", see: "", change: "themes:write" },
  { kind: "authors", title: "authors.title", see: "", change: "authors:write" },
  { kind: "users", title: "users.title", see: "users:read", change: "users:write" },
  { kind: "roles", title: "roles.title", see: "roles:read", change: "roles:write" },
  { kind: "proposals", title: "submissions.title", see: "", change: "proposals:write" },
  { kind: "changes", title: "history.title", see: "changes:read", change: "" },
]);
/** @type {readonly string[]} */
const OURS = RIGHTS.flatMap(({ see, change }) => [see, change]).filter(Boolean);

/** @param {string} scope @returns {boolean} whether it is for other services alone */
const isForeign = (scope) => scope !== ALL && !OURS.includes(scope);

/** @param {string} scope @returns {string} what it allows, as one says it: "change logos" */
export function words(scope) {
  return isForeign(scope) ? t("right.foreign", { scope }) : t(/** @type {TextKey} */ (`right.${scope}`));
}

/** @param {string} a @param {string} b */
const oursFirst = (a, b) => Number(isForeign(a)) - Number(isForeign(b)) || OURS.indexOf(a) - OURS.indexOf(b);

/** @param {readonly string[]} scope @returns {string[]} what it allows, the most first; of everything nothing else */
export const allWords = (scope) => (scope.includes(ALL) ? [words(ALL)] : scope.toSorted(oursFirst).map(words));

/** @param {readonly string[]} held @param {readonly string[]} wanted @returns {string[]} the wanted scopes that are not held */
const beyond = (held, wanted) => (held.includes(ALL) ? [] : wanted.filter((scope) => !held.includes(scope)));

/** @param {readonly string[]} wanted @returns {string[]} the scopes that the user cannot grant or change */
export const beyondMe = (wanted) => beyond(me.value?.scope ?? [], wanted);

/**
 * The rights gained and lost when one scope replaces another.
 *
 * @param {readonly string[]} before
 * @param {readonly string[]} after
 * @returns {{gained: string[], lost: string[], kept: string[]}} `kept` where everything was lost but that
 */
export function effect(before, after) {
  const gained = beyond(before, after);
  const lost = beyond(after, before);
  return {
    gained: gained.includes(ALL) ? [ALL] : gained,
    lost: lost.includes(ALL) ? [ALL] : lost,
    kept: lost.includes(ALL) ? [...after] : [],
  };
}

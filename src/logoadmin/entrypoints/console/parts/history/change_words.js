/** A change in words: who did what to which record. */
import { h } from "../../vendor/preact.js";
import { fieldsOfChange, isFirstStart } from "./changes.js";
import { nameOf } from "../../presentation.js";
import { isListed, listOf } from "../../records.js";
import { pageConfig } from "../../session.js";
import { enumeration, t } from "../../texts.js";
import { rich } from "../primitives/basics.js";
import { NameMark } from "../people/name_mark.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {import("../../texts.js").TextKey} TextKey */

/** @param {string} key @returns {TextKey} one that is made of what the service says, see `known` */
const made = (key) => /** @type {TextKey} */ (key);
/** @param {string} key @param {string} otherwise @returns {string} the words, where there are any */
const known = (key, otherwise) => (t(made(key)) === key ? otherwise : t(made(key)));

/** @param {string} kind @returns {string} as it stands in a sentence */
export const kindOf = (kind) => known(`kind.${kind}`, kind);

/** @param {Change | undefined} change @returns {string} who made it */
export function actor(change) {
  if (change && isFirstStart(change)) return t("who.setup");
  const { user_id: userId, user_name: username } = change ?? {};
  // Without a token nobody writes where all must sign in, but the programs on the server.
  if (userId === null || userId === undefined) return t(pageConfig.access === "guarded" ? "who.command" : "who.nobody");
  return username ? nameOf("user", { username, user_id: userId }) : t("who.removed", { id: String(userId) });
}

/** Who made a change, with a mark if the name is easily taken for another one. @param {{change: Change}} props */
export function Actor({ change }) {
  const { user_id: userId, user_name: username } = change;
  return h("bdi", { class: "who" }, actor(change), username && userId !== null ? h(NameMark, { user: { user_id: userId, username } }) : null);
}

/** @param {number} authorId @returns {string} */
export function authorName(authorId) {
  const found = listOf("author").value.records?.find((author) => author.author_id === authorId);
  return found ? nameOf("author", found) : t("author.number", { id: String(authorId) });
}

/** @param {unknown} links @returns {number[]} */
export const authorIds = (links) => (Array.isArray(links) ? links.map((link) => Number(link.author_id)) : []);

/** @param {{change: Change}} props */
export function Words({ change }) {
  const nodes = {
    who: h(Actor, { change }),
    kind: kindOf(change.kind),
    name: h("bdi", { class: "what" }, recordName(change)),
    fields: fieldWords(change),
    author: h("bdi", { class: "what" }, authorWords(change)),
    reason: h("bdi", null, String(change.after?.["blocked"] ?? "")),
  };
  return h("span", { class: "change-words" }, rich(keyOf(change), nodes), submitted(change));
}

/** @param {Change} change @returns {any} who proposed it, if somebody did */
function submitted({ submitter_id: id, submitter_name: name }) {
  if (typeof id !== "number") return null;
  return [" ", rich("change.submitted", { who: h("bdi", { class: "who" }, name ? nameOf("user", { username: name, user_id: id }) : t("who.removed", { id: String(id) })) })];
}

/** @param {Change} change @returns {string} the name of its record, as it was when that happened; the settings have none */
const recordName = ({ kind, before, after }) => (isListed(kind) ? nameOf(kind, after ?? before) : "");

/** @param {Change} change */
const fieldWords = (change) => enumeration(fieldNames(fieldsOfChange(change)));

/** @param {string[]} fields @returns {string[]} as they stand in a sentence */
export const fieldNames = (fields) => fields.map((name) => known(`in.${name}`, name.replaceAll("_", " ")));

/** @param {string[]} keys @param {TextKey} otherwise @returns {TextKey} the first for which there are words */
export const textFor = (keys, otherwise) => made(keys.find((key) => t(made(key)) !== key) ?? otherwise);

/** @param {Change} change @returns {string} the authors who came or went */
function authorWords({ before, after }) {
  const [old, now] = [authorIds(before?.authors), authorIds(after?.authors)];
  return enumeration([...old.filter((id) => !now.includes(id)), ...now.filter((id) => !old.includes(id))].map(authorName));
}

/** @param {Change} change @returns {string} the action without the kind */
const actionOf = ({ action, kind }) => action.slice(kind.length + 1);

/** @param {string} kind @param {boolean} isActive @returns {string} how a record became active or not: users are suspended */
export const switchOf = (kind, isActive) => (kind === "user" ? (isActive ? "admitted" : "suspended") : isActive ? "on" : "off");

/** @param {Change} change @returns {string | undefined} what it did to a record, if it did nothing else */
function switched(change) {
  const fields = fieldsOfChange(change).toSorted().join();
  if (actionOf(change) !== "amended" || !["active", "active,blocked", "blocked"].includes(fields)) return undefined;
  if (fields !== "active") return change.after?.["blocked"] ? undefined : "unblocked";
  return switchOf(change.kind, change.after?.active !== false); // users have it only during a suspension
}

/** @param {Change} change @returns {TextKey} */
function keyOf(change) {
  const action = switched(change) ?? actionOf(change);
  if (action === "amended" && fieldsOfChange(change).length === 0) return "change.unchanged";
  return textFor([`change.${change.origin}.${action}`, `change.${action}`], "change.amended");
}

/** All that one request did, in a sentence. @param {{group: import("./changes.js").Group}} props */
export function GroupWords({ group }) {
  const { changes } = group;
  const [first] = changes;
  const words = first && { who: h("bdi", { class: "who" }, actor(first)), fields: fieldWords(first), author: h("bdi", { class: "what" }, authorWords(first)) };
  /** @type {Map<string, Set<number>>} */
  const records = new Map();
  for (const { kind, id } of changes) records.set(kind, (records.get(kind) ?? new Set()).add(id));
  const n = [...records.values()].reduce((sum, ids) => sum + ids.size, 0);
  const what = enumeration([...records].map(([kind, ids]) => t(made(`many.${kind}`), { n: ids.size })));
  return h("span", { class: "change-words" }, rich(manyKey(group), { ...words, what }, { n }), group.changes[0] && submitted(group.changes[0]));
}

/** @param {import("./changes.js").Group} group @returns {TextKey} */
function manyKey({ changes, undid }) {
  const [first] = changes;
  if (first?.origin === "import") return "many.imported";
  if (first?.origin === "undo") return undid?.origin === "import" ? "many.undone.import" : undid?.origin === "undo" ? "many.redone" : "many.undone";
  if (!first) return "many.amended";
  const isOne = (/** @type {(change: Change) => unknown} */ of) => changes.every((change) => of(change) === of(first));
  if (!isOne(actionOf)) return "many.amended";
  const action = switched(first) ?? actionOf(first);
  const isSame = isOne(action === "amended" ? (change) => fieldsOfChange(change).join() : action.endsWith("linked") ? authorWords : (change) => switched(change) ?? "");
  const key = action === "amended" ? "many.amended.fields" : `many.${action}`;
  return isSame && t(made(key)) !== key ? made(key) : "many.amended";
}

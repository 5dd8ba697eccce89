/** A change in words: who did what to which record. */
import { h } from "../../vendor/preact.js";
import { fieldsOfChange } from "./changes.js";
import { actor } from "./user_names.js";
import { nameOf } from "../../presentation.js";
import { listOf } from "../../records.js";
import { enumeration, t } from "../../texts.js";
import { rich } from "../primitives/basics.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {import("../../texts.js").TextKey} TextKey */

/** @param {string} key @returns {TextKey} one that is made of what the service says, see `known` */
const made = (key) => /** @type {TextKey} */ (key);
/** @param {string} key @param {string} otherwise @returns {string} the words, where there are any */
const known = (key, otherwise) => (t(made(key)) === key ? otherwise : t(made(key)));

/** @param {string} kind @returns {string} as it stands in a sentence */
export const kindOf = (kind) => known(`kind.${kind}`, kind);

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
    who: h("bdi", { class: "who" }, actor(change)),
    kind: kindOf(change.kind),
    name: h("bdi", { class: "what" }, nameOf(change.kind, change.after ?? change.before)),
    fields: enumeration(fieldsOfChange(change).map((name) => known(`in.${name}`, name.replaceAll("_", " ")))),
    author: h("bdi", { class: "what" }, enumeration(differing(change).map(authorName))),
  };
  return h("span", { class: "change-words" }, rich(keyOf(change), nodes));
}

/** @param {Change} change @returns {number[]} the authors who came or went */
function differing({ before, after }) {
  const [old, now] = [authorIds(before?.authors), authorIds(after?.authors)];
  return [...old.filter((id) => !now.includes(id)), ...now.filter((id) => !old.includes(id))];
}

/** @param {Change} change @returns {TextKey} */
function keyOf(change) {
  const action = change.action.slice(change.kind.length + 1);
  const fields = fieldsOfChange(change);
  if (action === "amended" && fields.join() === "active") return change.after?.active ? "change.on" : "change.off";
  return made(t(made(`change.${action}`)) === `change.${action}` ? "change.amended" : `change.${action}`);
}

/** All that one request did, in a sentence. @param {{group: import("./changes.js").Group}} props */
export function GroupWords({ group: { changes, count } }) {
  const [first] = changes;
  const who = h("bdi", { class: "who" }, actor(first));
  if (count > changes.length) return h("span", { class: "change-words" }, rich("many.all", { who }, { n: count }));
  /** @type {Map<string, Set<number>>} */
  const records = new Map();
  for (const { kind, id } of changes) records.set(kind, (records.get(kind) ?? new Set()).add(id));
  const what = enumeration([...records].map(([kind, ids]) => t(made(`many.${kind}`), { n: ids.size })));
  const actions = new Set(changes.map(({ action }) => action.split(".")[1]));
  const [action] = actions;
  const isOne = actions.size === 1 && t(made(`many.${action}`)) !== `many.${action}`;
  return h("span", { class: "change-words" }, rich(isOne ? made(`many.${action}`) : "many.amended", { who, what }));
}

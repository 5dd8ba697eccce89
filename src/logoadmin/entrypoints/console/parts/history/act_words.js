/** What a request did, in one sentence: the service says all that is in it, so it never changes. */
import { h } from "../../vendor/preact.js";
import { isSingle } from "./changes.js";
import { fieldNames, kindOf, switchOf, textFor } from "./change_words.js";
import { nameOf } from "../../presentation.js";
import { isListed } from "../../records.js";
import { pageConfig } from "../../session.js";
import { enumeration, t } from "../../texts.js";
import { rich } from "../primitives/basics.js";
import { NameMark } from "../people/name_mark.js";

/** @typedef {import("./changes.js").Act} Act */
/** @typedef {import("../../texts.js").TextKey} TextKey */

/** @param {Act} act @returns {string} who did it, as they were called then */
export function actorOf({ origin, user_id: userId, user_name: username }) {
  if (origin === "first start") return t("who.setup");
  if (userId === null) return t(origin === "command line" || pageConfig.access === "guarded" ? "who.command" : "who.nobody");
  return username ? nameOf("user", { username, user_id: userId }) : t("who.removed", { id: String(userId) });
}

/** @param {{act: Act}} props */
export function ActWords({ act }) {
  const { user_id: userId, user_name: username, names, count, note } = act;
  const mark = username && userId !== null ? h(NameMark, { user: { user_id: userId, username } }) : null;
  const words = { who: h("bdi", { class: "who" }, actorOf(act), mark), fields: enumeration(fieldNames(act.fields)), author: h("bdi", { class: "what" }, enumeration(act.authors)) };
  return h(
    "span",
    { class: "change-words" },
    isSingle(act) ? single(act, words) : many(act, words),
    typeof act.submitter_id === "number" && [" ", rich("change.submitted", { who: h("bdi", { class: "who" }, act.submitter_name ?? t("who.removed", { id: String(act.submitter_id) })) })],
    !isSingle(act) && names.length > 0 && h("span", { class: "act-names" }, " ", h("bdi", null, names.join(", ")), count > names.length && "…"),
    note && h("span", { class: "act-note", dir: "auto" }, note),
  );
}

/** @param {Act} act @returns {[string, string][]} the kind and the verb of each action; the password of a new user goes without saying */
function actionsOf({ actions, count }) {
  const all = Object.keys(actions).map((action) => /** @type {[string, string]} */ (action.split(".")));
  return count > 1 ? all.filter(([, verb]) => verb !== "password_set" || all.length === 1) : all;
}

/** @param {Act} act @param {Record<string, any>} words */
function single(act, words) {
  const [[kind, verb] = ["", ""]] = actionsOf(act);
  const name = isListed(kind) ? (act.names[0] ?? "") : "";
  return rich(keyOfOne(act, kind, verb), { ...words, kind: kindOf(kind), name: h("bdi", { class: "what" }, name) });
}

/** @param {Act} act @param {string} kind @param {string} verb @returns {TextKey} */
function keyOfOne({ origin, fields, active }, kind, verb) {
  const isUnblocked = fields.includes("blocked") && fields.every((field) => field === "active" || field === "blocked");
  const did = active === null ? (isUnblocked ? "unblocked" : verb) : switchOf(kind, active);
  if (did === "amended" && fields.length === 0) return "change.unchanged";
  return textFor(did === "blocked" ? ["act.blocked"] : [`change.${origin}.${did}`, `change.${did}`], "change.amended");
}

/** @param {Act} act @param {Record<string, any>} words */
function many(act, words) {
  const of = actionsOf(act);
  const [gone, others] = [true, false].map((isGone) => of.filter(([, verb]) => (verb === "removed") === isGone));
  // As when authors are merged.
  if (gone?.length && others?.length && act.origin !== "import" && act.origin !== "undo") return rich("many.amended.removed", { ...words, what: counted(act, others), gone: counted(act, gone) });
  const n = of.reduce((sum, action) => sum + numberOf(act, action), 0);
  return rich(keyOfMany(act, [...new Set(of.map(([, verb]) => verb))]), { ...words, what: counted(act, of) }, { n });
}

/** @param {Act} act @param {[string, string]} action @returns {number} */
const numberOf = ({ actions }, [kind, verb]) => actions[`${kind}.${verb}`] ?? 0;

/** @param {Act} act @param {[string, string][]} of @returns {string} how many records of each kind */
function counted(act, of) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const action of of) counts.set(action[0], (counts.get(action[0]) ?? 0) + numberOf(act, action));
  return enumeration([...counts].map(([kind, n]) => t(/** @type {TextKey} */ (`many.${kind}`), { n })));
}

/** @param {Act} act @param {string[]} verbs @returns {TextKey} */
function keyOfMany({ origin, fields, active, authors, undid }, verbs) {
  if (origin === "import") return "many.imported";
  if (origin === "undo") return undid === "import" ? "many.undone.import" : undid === "undo" ? "many.redone" : "many.undone";
  const [verb = ""] = verbs;
  if (verbs.length > 1) return "many.amended";
  if (active !== null) return active ? "many.on" : "many.off";
  if (verb === "amended") return fields.length > 0 ? "many.amended.fields" : "many.amended";
  if (verb.endsWith("linked") && authors.length !== 1) return "many.amended";
  return textFor([`many.${verb}`], "many.amended");
}

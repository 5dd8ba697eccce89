/** What a request did, in one sentence: the service says all that is in it, so it never changes. */
import { h } from "../../vendor/preact.js";
import { isSingle } from "./changes.js";
import { Actor, fieldNames, keyOfOne, kindOf, marked, submitted, switchOf, textFor } from "./change_words.js";
import { isListed } from "../../records.js";
import { enumeration, t } from "../../texts.js";
import { rich } from "../primitives/basics.js";

/** @typedef {import("./changes.js").Act} Act */
/** @typedef {import("../../texts.js").TextKey} TextKey */

/** @param {{act: Act}} props */
export function ActWords({ act }) {
  const { names, count, note, submitter_id, submitter_name } = act;
  return h("span", { class: "change-words" },
    isSingle(act) ? single(act) : many(act),
    submitted({ submitter_id, submitter_name }),
    !isSingle(act) && names.length > 0 && h("span", { class: "act-names" }, " ", h("bdi", null, names.join(", ")), count > names.length && "…"),
    note && h("span", { class: "act-note", dir: "auto" }, note),
  );
}

/** @param {Act} act @returns {[string, string][]} the kind and the verb of each action; the password of a new user goes without saying */
function actionsOf({ actions }) {
  const all = Object.keys(actions);
  return all.filter((action) => action !== "user.password_set" || all.length === 1).map((action) => /** @type {[string, string]} */ (action.split(".")));
}

/** @param {Act} act */
const values = ({ fields, authors, reason }) => ({
  fields: enumeration(fieldNames(fields)),
  author: h("bdi", { class: "what" }, enumeration(authors)),
  reason: h("bdi", null, reason),
});

/** @param {Act} act */
function single(act) {
  const [[kind, verb] = ["", ""]] = actionsOf(act);
  const name = isListed(kind) ? (act.names[0] ?? "") : "";
  return rich(keyOfOne({ ...act, kind, verb }), { ...values(act), who: h(Actor, { did: act }), kind: kindOf(kind), name: h("bdi", { class: "what" }, name, marked({ kind, before: null, after: { username: name } })) });
}

/** @param {Act} act */
function many(act) {
  const of = actionsOf(act);
  const words = { ...values(act), who: h(Actor, { did: act }) };
  const [gone, others] = [true, false].map((isGone) => of.filter(([, verb]) => (verb === "removed") === isGone));
  // As when authors are merged.
  if (gone?.length && others?.length && act.origin !== "import" && act.origin !== "undo") return rich("many.amended.removed", { ...words, what: counted(act, others), gone: counted(act, gone) });
  const n = of.reduce((sum, action) => sum + numberOf(act, action), 0);
  return rich(keyOfMany(act, of), { ...words, what: counted(act, of) }, { n });
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

/** @param {Act} act @param {[string, string][]} of @returns {TextKey} */
function keyOfMany({ origin, fields, active, authors, reason, undid }, of) {
  if (origin === "import") return "many.imported";
  if (origin === "undo") return undid === "import" ? "many.undone.import" : undid === "undo" ? "many.redone" : "many.undone";
  const [[kind, verb] = ["", ""]] = of;
  if (of.some(([, other]) => other !== verb)) return "many.amended";
  if (verb === "amended" && active !== null) return textFor([`many.${switchOf(kind, active)}`], "many.amended");
  if (verb === "amended" && fields.length > 0) return "many.amended.fields";
  if (verb.endsWith("linked") && authors.length !== 1) return "many.amended";
  if (verb === "blocked" && reason === null) return "many.blocked.reasons";
  return textFor([`many.${verb}`], "many.amended");
}

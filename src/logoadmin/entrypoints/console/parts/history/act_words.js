/** What a request did, in one sentence: the service says all that is in it, so it never changes. */
import { h } from "../../vendor/preact.js";
import { fieldsOfChange, isSingle } from "./changes.js";
import { Actor, activeOf, authorsOf, fieldNames, keyOfOne, kindOf, marked, submitted, switchOf, textFor } from "./change_words.js";
import { isListed } from "../../records.js";
import { enumeration, t } from "../../texts.js";
import { rich } from "../primitives/basics.js";

/** @typedef {import("./changes.js").Act} Act */
/** @typedef {import("../../texts.js").TextKey} TextKey */
/** @typedef {Pick<Act, "actions" | "fields" | "active" | "authors" | "reason"> & {origin: string | null, undid: string | null}} Deed What many changes did. */

/** @param {{act: Act}} props */
export function ActWords({ act }) {
  const { names, count, note, submitter_id, submitter_name } = act;
  return h(
    "span",
    { class: "change-words" },
    isSingle(act) ? single(act) : many(act, act),
    submitted({ submitter_id, submitter_name }),
    !isSingle(act) && names.length > 0 && h("span", { class: "act-names" }, " ", h("bdi", null, names.join(", ")), count > names.length && "…"),
    note && h("span", { class: "act-note", dir: "auto" }, note),
  );
}

/** What one request did to the records that are shown, in a sentence. @param {{group: import("./changes.js").Group}} props */
export function GroupWords({ group: { changes, undid } }) {
  const [first] = changes;
  if (!first) return null;
  /** @template T @param {(change: import("./changes.js").Change) => T} of @returns {T | null} what is the same in all of them */
  const common = (of) => (changes.every((change) => JSON.stringify(of(change)) === JSON.stringify(of(first))) ? of(first) : null);
  /** @type {Record<string, Set<number>>} */
  const records = {};
  for (const { action, id } of changes) (records[action] ??= new Set()).add(id);
  /** @type {Deed} */
  const deed = {
    origin: first.origin,
    undid: undid?.origin ?? null,
    actions: Object.fromEntries(Object.entries(records).map(([action, ids]) => [action, ids.size])),
    fields: common(fieldsOfChange) ?? [],
    active: common(activeOf),
    authors: common(authorsOf) ?? [],
    reason: common(({ after }) => after?.["blocked"] ?? null),
  };
  return h("span", { class: "change-words" }, many(deed, first), submitted(first));
}

/** @param {Deed} deed @returns {[string, string][]} the kind and the verb of each action; the password of a new user goes without saying */
function actionsOf({ actions }) {
  const all = Object.keys(actions);
  return all.filter((action) => action !== "user.password_set" || all.length === 1).map((action) => /** @type {[string, string]} */ (action.split(".")));
}

/** @param {Deed} deed */
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

/** @param {Deed} deed @param {import("./change_words.js").Did} did */
function many(deed, did) {
  const of = actionsOf(deed);
  const words = { ...values(deed), who: h(Actor, { did }) };
  const [gone, others] = [true, false].map((isGone) => of.filter(([, verb]) => (verb === "removed") === isGone));
  // As when authors are merged.
  if (gone?.length && others?.length && deed.origin !== "import" && deed.origin !== "undo") return rich("many.amended.removed", { ...words, what: counted(deed, others), gone: counted(deed, gone) });
  const n = of.reduce((sum, action) => sum + numberOf(deed, action), 0);
  return rich(keyOfMany(deed, of), { ...words, what: counted(deed, of) }, { n });
}

/** @param {Deed} deed @param {[string, string]} action @returns {number} */
const numberOf = ({ actions }, [kind, verb]) => actions[`${kind}.${verb}`] ?? 0;

/** @param {Deed} deed @param {[string, string][]} of @returns {string} how many records of each kind */
function counted(deed, of) {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const action of of) counts.set(action[0], (counts.get(action[0]) ?? 0) + numberOf(deed, action));
  return enumeration([...counts].map(([kind, n]) => t(/** @type {TextKey} */ (`many.${kind}`), { n })));
}

/** @param {Deed} deed @param {[string, string][]} of @returns {TextKey} */
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

/** Changes and acts in words: who did what to which record. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { isListed } from "../../records.js";
import { enumeration, isolated, t } from "../../texts.js";
import { authorName } from "../artwork/authorship.js";
import { NameMark } from "../people/person.js";
import { rich } from "../primitives/basics.js";
import { fieldsOfChange, isSingle } from "./changes.js";

/** @param {string} key @returns {TextKey} one that is made of what the service says, see `known` */
const made = (key) => /** @type {TextKey} */ (key);
/** @param {string} key @param {string} otherwise @returns {string} the words, where there are any */
const known = (key, otherwise) => (t(made(key)) === key ? otherwise : t(made(key)));

/** @param {string} kind @returns {string} as it stands in a sentence */
const kindOf = (kind) => known(`kind.${kind}`, kind);

/** @typedef {Pick<Change, "source" | "user_id" | "user_name">} Did Who did something, and from where. */
/** Who acts without signing in. @type {Record<string, TextKey>} */
const SOURCES = { "first start": "who.setup", "command line": "who.command", program: "who.program" };

/** @param {Did | undefined} did @returns {string} who did it */
export function actor(did) {
  const { source, user_id: userId, user_name: username } = did ?? {};
  if (userId === null || userId === undefined) return t(SOURCES[source ?? ""] ?? "who.nobody");
  return username ? nameOf("user", { username, user_id: userId }) : t("who.removed", { id: String(userId) });
}

/** Who did something, with a mark if the name is easily taken for another one. @param {{did: Did}} props */
export function Actor({ did }) {
  const { user_id: userId, user_name: username } = did;
  return h("bdi", { class: "who" }, actor(did), username && userId !== null ? h(NameMark, { record: { user_id: userId, username } }) : null);
}

/** @param {unknown} links @returns {number[]} */
export const authorIds = (links) => (Array.isArray(links) ? links.map((link) => Number(link.author_id)) : []);

/** @param {{change: Change}} props */
export function Words({ change }) {
  const { kind, action, before, after } = change;
  const fields = fieldsOfChange(change);
  const nodes = {
    ...values({ fields: [...new Set(fields.map((name) => name.replace(/\..*/, "")))], authors: authorsOf(change), reason: String(after?.["blocked"] ?? "") }),
    who: h(Actor, { did: change }),
    kind: kindOf(kind),
    // As it was called when that happened; the settings have no name.
    name: h("bdi", { class: "what" }, isListed(kind) && nameOf(kind, after ?? before), marked(change)),
  };
  // What it switched its record to, if it did nothing else; users have it only during a suspension.
  const active = fields.join() === "active" ? after?.active !== false : null;
  return h("span", { class: "change-words" }, rich(keyOfOne({ ...change, verb: action.slice(kind.length + 1), fields, active }), nodes), submitted(change));
}

/** @param {{kind: string, before: any, after: any}} change @returns {any} a mark on the name of a user or an author that is easily taken for another one */
export function marked({ kind, before, after }) {
  const record = after ?? before;
  return (kind === "user" || kind === "author") && record?.username ? h(NameMark, { kind, record }) : null;
}

/** @param {Pick<Change, "submitter_id" | "submitter_name">} change @returns {any} who proposed it, if somebody did */
export function submitted({ submitter_id: id, submitter_name: name }) {
  if (typeof id !== "number") return null;
  return [" ", rich("change.submitted", { who: h(Actor, { did: { source: null, user_id: id, user_name: name ?? null } }) })];
}

/** @param {string[]} fields @returns {string[]} as they stand in a sentence */
const fieldNames = (fields) => fields.map((name) => known(`in.${name}`, name.replaceAll("_", " ")));

/** @param {string[]} keys @param {TextKey} otherwise @returns {TextKey} the first for which there are words */
const textFor = (keys, otherwise) => made(keys.find((key) => t(made(key)) !== key) ?? otherwise);

/** @param {Change} change @returns {string[]} the authors who came or went */
function authorsOf({ before, after }) {
  const [old, now] = [authorIds(before?.authors), authorIds(after?.authors)];
  return [...old.filter((id) => !now.includes(id)), ...now.filter((id) => !old.includes(id))].map(authorName);
}

/** @param {string} kind @param {boolean} isActive @returns {string} how a record became active or not: users are suspended */
const switchOf = (kind, isActive) => (kind === "user" ? (isActive ? "admitted" : "suspended") : isActive ? "on" : "off");

/** @param {{origin: string | null, kind: string, verb: string, fields: string[], active: boolean | null}} deed @returns {TextKey} of the sentence for one change, which follows its verb */
function keyOfOne({ origin, kind, verb, fields, active }) {
  if (verb === "amended" && fields.length === 0) return "change.unchanged";
  const did = verb === "amended" && active !== null ? switchOf(kind, active) : verb;
  return textFor([`change.${origin}.${did}`, `change.${did}`], "change.amended");
}

/** The act of a request in one sentence: all of it comes from the service, so it never changes. @param {{act: Act}} props */
export function ActWords({ act }) {
  const { names, count, note, submitter_id, submitter_name } = act;
  return h("span", { class: "change-words" },
    isSingle(act) ? single(act) : many(act),
    submitted({ submitter_id, submitter_name }),
    !isSingle(act) && names.length > 0 && h("span", { class: "act-names" }, " ", names.map(isolated).join(", "), count > names.length && "…"),
    note && h("span", { class: "act-note", dir: "auto" }, note),
  );
}

/** @param {Act} act @returns {[string, string][]} the kind and the verb of each action; the password of a new user goes without saying */
function actionsOf({ actions }) {
  const all = Object.keys(actions);
  return all.filter((action) => action !== "user.password_set" || all.length === 1).map((action) => /** @type {[string, string]} */ (action.split(".")));
}

/** @param {Pick<Act, "fields" | "authors" | "reason">} did */
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

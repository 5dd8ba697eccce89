/** Users and authors as they stand in lists: their picture, and a mark on names that are easily taken for another one (contract O7). */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf, maySee } from "../../records.js";
import { path } from "../../router.js";
import { pageConfig } from "../../session.js";
import { t } from "../../texts.js";
import { Icon, Link } from "../primitives/basics.js";
import { useShown } from "../primitives/picture.js";

/** @typedef {{user_id: number, username: string, avatar: string | null}} Somebody */

/** @param {{user: Somebody, size?: "" | "middle" | "large"}} props */
export function Avatar({ user, size = "" }) {
  const { source, onError } = useShown(user.avatar ?? "");
  // Not a mark that only turns the direction of writing, nor one that belongs to the letter before it.
  const letter = /[^\p{C}\p{M}\p{Z}]/u.exec(user.username)?.[0] ?? "";
  return h("span", { class: `avatar ${size}`, "aria-hidden": true },
    source
      ? h("img", { key: source, src: source, alt: "", loading: "lazy", decoding: "async", referrerPolicy: "no-referrer", onError })
      : letter.toUpperCase(),
  );
}

/** A user as they stand in lists. @param {{user: Somebody}} props */
export const Person = ({ user }) => h("span", { class: "person" }, h(Avatar, { user }), h("bdi", { class: "clip" }, nameOf("user", user)), h(NameMark, { record: user }));

/** The two lists of people: the users, and the roles that say what they may do. */
export const PeopleTabs = () =>
  maySee("role") && h("nav", { class: "segmented", "aria-label": t("people.title") },
    /** @type {const} */ (["user", "role"]).filter(maySee).map((kind) => h(Link, { key: kind, to: `${kind}s`, "aria-current": path.value === `${kind}s` ? "page" : undefined }, t(`${kind}s.title`))),
  );

/** @typedef {{username: string, user_id?: number | null, author_id?: number}} Named A user or an author. */
/** @typedef {{record: Named, kind?: "user" | "author"}} Props */

/** Letters by the plain one that each resembles, as the service has them. */
const LIKE = pageConfig.like;
const LOOKS = new Map(Object.entries({ ...LIKE, l: `${LIKE.l}1I|`, O: `${LIKE.O}0`, rn: "m" }).flatMap(([plain, all]) => [...all].map((letter) => [letter, plain])));

// Japanese, Korean and Chinese mix these, also with Latin.
const EAST_ASIAN = /[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Hang}\p{sc=Bopo}]/u;
const SCRIPTS = [
  ...[/\p{sc=Latn}/u, /\p{sc=Cyrl}/u, /\p{sc=Grek}/u, /\p{sc=Armn}/u, /\p{sc=Geor}/u, /\p{sc=Hebr}/u, /\p{sc=Arab}/u],
  ...[/\p{sc=Copt}/u, /\p{sc=Cher}/u, /\p{sc=Lisu}/u, /\p{sc=Cans}/u, /\p{sc=Tfng}/u, /\p{sc=Deva}/u, /\p{sc=Thai}/u],
];

/** Marks names that are easily taken for another one: of mixed scripts, or like that of another record (contract O7). @param {string} name */
function mixesScripts(name) {
  const found = SCRIPTS.filter((script) => script.test(name)).length;
  return found > 1 || (found === 1 && EAST_ASIAN.test(name) && !/\p{sc=Latn}/u.test(name));
}

/** @param {string} text */
const skeleton = (text) => [...text.normalize("NFKD").replace(/[\p{C}\u0300-\u036f]/gu, "")].map((letter) => LOOKS.get(letter) ?? letter).join("");

/** What a name looks like; two names look alike if they have one of these in common. @param {string} name */
const looks = (name) => [...new Set([skeleton(skeleton(name).toLowerCase()), skeleton(name.toLowerCase())])];

/** @type {WeakMap<object, Map<string, Named[]>>} */
const known = new WeakMap();

/** Another record of the kind whose name looks like this one, as far as they were read. @param {Props} props */
function lookalike({ record, kind = "user" }) {
  /** @type {Named[] | undefined} */
  const all = listOf(kind).value.records;
  if (!all) return undefined;
  let byLook = known.get(all);
  if (!byLook) {
    byLook = new Map();
    for (const each of all) for (const look of looks(each.username)) byLook.set(look, [...(byLook.get(look) ?? []), each]);
    known.set(all, byLook);
  }
  const id = /** @type {"user_id" | "author_id"} */ (KINDS[kind].id);
  return looks(record.username).flatMap((look) => byLook.get(look) ?? []).find((other) => other.username !== record.username && other[id] !== record[id]);
}

/** @param {Props} props @returns {string} why a name is easily taken for another one; empty if it is not */
function doubtsOf(props) {
  const { record, kind = "user" } = props;
  const other = lookalike(props);
  return [
    other && t(`name.alike.${kind}`, { name: other.username, id: String(other[/** @type {"user_id" | "author_id"} */ (KINDS[kind].id)]) }),
    mixesScripts(record.username) && t("name.mixed"),
  ].filter(Boolean).join(". ");
}

/** The mark in words, for the page of the record. @param {Props} props */
export function NameDoubts(props) {
  const words = doubtsOf(props);
  return words ? h("p", { class: "name-mark", role: "note" }, h(Icon, { name: "TriangleAlert" }), " ", words) : null;
}

/** @param {Props} props */
export function NameMark(props) {
  const title = doubtsOf(props);
  return title ? h("span", { class: "name-mark", role: "img", "aria-label": title, title }, h(Icon, { name: "TriangleAlert" })) : null;
}

/** Users and authors as they stand in lists: their picture, and a mark on names that are easily taken for another one (contract O7). */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf, maySee } from "../../records.js";
import { path } from "../../router.js";
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

/** Latin, Greek, Cyrillic and Armenian letters, by the plain one that each resembles; a test compares this with the service. */
const LIKE = {
  2: "\u01a7\ua644\ua75a",
  3: "\u01b7\u021c\u0417\u04e0\ua76a\ua7ab",
  5: "\u01bc",
  6: "\u0431",
  8: "\u0222\u0223",
  9: "\ua76e",
  A: "\u0391\u0410",
  B: "\u0392\u0412\ua7b4",
  C: "\u0421",
  E: "\u0395\u0415",
  F: "\u03dc\ua798",
  G: "\u050c",
  H: "\u0397\u041d",
  J: "\u037f\u0408\ua7b2",
  K: "\u039a\u041a",
  M: "\u039c\u03fa\u041c",
  N: "\u039d",
  O: "\u039f\u041e\u0555",
  P: "\u03a1\u0420",
  R: "\u01a6",
  S: "\u0405\u054f",
  T: "\u03a4\u0422",
  U: "\u054d",
  V: "\u0474",
  W: "\u051c",
  X: "\u03a7\u0425\ua7b3",
  Y: "\u03a5\u0423\u04ae",
  Z: "\u0396",
  a: "\u0251\u03b1\u0430",
  b: "\u0184\u042c",
  c: "\u0441\u1d04",
  d: "\u0501",
  e: "\u0435\u04bd\uab32",
  f: "\u0584\u1e9d\ua799\uab35",
  g: "\u018d\u0261\u0581\u1d83",
  h: "\u04bb\u0570",
  i: "\u0131\u0269\u026a\u03b9\u0456\u04cf\ua647",
  j: "\u03f3\u0458",
  l: "\u0196\u01c0\u0399\u0406\u04c0",
  n: "\u0578\u057c",
  o: "\u03bf\u03c3\u043e\u0585\u1d0f\u1d11\uab3d",
  p: "\u03c1\u0440",
  q: "\u051b\u0563\u0566",
  r: "\u0433\u1d26\uab47\uab48",
  s: "\u01bd\u0455\ua731",
  u: "\u028b\u03c5\u057d\u1d1c\ua79f\uab4e\uab52",
  v: "\u03bd\u0475\u1d20",
  w: "\u026f\u0461\u051d\u0561\u1d21",
  x: "\u0445",
  y: "\u0263\u028f\u03b3\u0443\u04af\u1d8c\u1eff\uab5a",
  z: "\u1d22",
};
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
export const looks = (name) => [...new Set([skeleton(skeleton(name).toLowerCase()), skeleton(name.toLowerCase())])];

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

/** What saving would give and take, from whom, before it is saved. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { effect, words } from "../../scopes.js";
import { enumeration, t } from "../../texts.js";
import { me } from "../../session.js";

/** @typedef {import("../../records.js").Records["user"]} User */
/** The number of people named; the others are counted. */
const NAMED = 12;

/** @param {readonly User[]} users @returns {string} their names */
export function namesOf(users) {
  const named = users.slice(0, NAMED).map((user) => `\u2068${nameOf("user", user)}\u2069`);
  const more = users.length - named.length;
  return enumeration(more ? [...named, t("people.more", { n: more })] : named);
}

/**
 * @param {object} props
 * @param {readonly string[]} props.before
 * @param {readonly string[]} props.after
 * @param {readonly User[] | undefined} props.users The users with the role; undefined if the user cannot see them.
 */
export function ScopeEffect({ before, after, users }) {
  const { gained, lost, kept } = effect(before, after);
  if (gained.length === 0 && lost.length === 0) return h("div", { role: "status" });
  const self = users?.some((user) => user.user_id === me.value?.user_id) ?? false;
  return h(
    "section",
    { class: lost.length && self ? "stack effect warning" : "stack effect", role: "status", "aria-label": t("effect.title") },
    h("h2", null, t("effect.title")),
    h("p", { dir: "auto" }, whom(users)),
    h("ul", { class: "stack tight" },
      gained.map((scope) => h("li", { key: scope, class: "gained" }, t("effect.gained", { what: words(scope) }))),
      lost.map((scope) => h("li", { key: scope, class: "lost" }, t("effect.lost", { what: words(scope) }))),
      lost.length > 0 && kept.length > 0 && h("li", { class: "kept" }, t("effect.kept", { what: enumeration(kept.map(words)) })),
    ),
    lost.length > 0 && self && h("p", null, t("effect.self")),
    users && users.length > 0 && h("p", { class: "hint" }, t("effect.atOnce")),
  );
}

/** @param {readonly User[] | undefined} users @returns {string} */
function whom(users) {
  if (!users) return t("effect.unknown");
  if (users.length === 0) return t("effect.nobody");
  return t("effect.whom", { n: users.length, names: namesOf(users) });
}

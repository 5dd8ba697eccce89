/** What a role or a key may do, as a matrix, and what another choice gives or takes from whom. */
import { h, useId } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { ALL, beyondMe, effect, RIGHTS, words } from "../../scopes.js";
import { me } from "../../session.js";
import { enumeration, t } from "../../texts.js";
import { widgets, words as labelOf } from "../primitives/fields.js";

/** Rights have no order that means anything: put back as they were, nothing is changed. @param {string[]} scope @param {string[]} before */
const sameSet = (scope, before) => (scope.length === before.length && scope.every((each) => before.includes(each)) ? before : scope);

/** @param {WidgetProps} props */
export function ScopeField({ form, field, describedBy, disabled }) {
  const scope = /** @type {string[]} */ (form.values.value[field.name]);
  const invalid = Boolean(form.problems.value[field.name]);
  const choose = (/** @type {string[]} */ chosen) => form.set(field.name, sameSet(chosen, /** @type {string[]} */ (form.base.value[field.name])));
  const all = scope.includes(ALL);
  const outOfReach = beyondMe([ALL, ...RIGHTS.flatMap(({ see, change }) => [see, change]).filter(Boolean)]);
  /** @param {string} which @param {boolean} on */
  const set = (which, on) => choose(on ? [...scope, which] : scope.filter((each) => each !== which));
  /** @param {string} which @param {string} text */
  const choice = (which, text) => {
    const beyond = outOfReach.includes(which) && !scope.includes(which);
    return h(Choice, {
      text,
      checked: all || scope.includes(which),
      why: beyond ? t("scope.beyond") : all && which !== ALL ? t("scope.included") : "",
      disabled,
      set: (/** @type {boolean} */ on) => set(which, on),
    });
  };
  return h(
    "div",
    { class: "box scopes", role: "group", "aria-label": labelOf(field.label ?? field.name, "label"), "aria-describedby": describedBy, tabIndex: invalid ? -1 : undefined, "aria-invalid": invalid || undefined },
    h("div", { class: "scope-all" }, choice(ALL, t("scope.*"))),
    h("table", { class: "scope-table" },
      h("thead", null, h("tr", null, ["kind", "see", "change"].map((each) => h("th", { key: each, scope: "col" }, t(/** @type {TextKey} */ (`scope.${each}`)))))),
      h("tbody", null,
        RIGHTS.map(({ kind, title, see, change }) =>
          h("tr", { key: kind },
            h("th", { scope: "row" }, t(title)),
            h("td", null, see ? choice(see, t(/** @type {TextKey} */ (`scope.${see}`))) : h("span", { class: "scope-open" }, t(kind === "proposals" ? "scope.proposals.see" : "scope.open"))),
            h("td", null, change ? choice(change, t(/** @type {TextKey} */ (`scope.${change}`))) : h("span", { class: "scope-open" }, t("scope.changes.change"))),
          ),
        ),
      ),
    ),
  );
}

widgets.scope = ScopeField;

/** @param {{text: string, checked: boolean, why: string, disabled: boolean, set: (on: boolean) => void}} props */
function Choice({ text, checked, why, disabled, set }) {
  const id = useId();
  const fixed = disabled || why !== "";
  return h("div", { class: fixed ? "check fixed" : "check" },
    h("input", {
      id,
      type: "checkbox",
      checked,
      // Not `disabled`, which the keyboard could not reach: then nobody would hear the reason.
      "aria-disabled": fixed,
      "aria-describedby": why ? `${id}-why` : undefined,
      onClick: (event) => fixed && event.preventDefault(),
      onInput: (event) => !fixed && set(event.currentTarget.checked),
    }),
    h("label", { for: id }, text),
    why && h("span", { id: `${id}-why`, class: "check-why" }, why),
  );
}

/** @typedef {Records["user"]} User */
/** The number of people named; the others are counted. */
const NAMED = 12;

/** What saving would give and take, from whom, before it is saved. @param {readonly User[]} users @returns {string} their names */
export function userNames(users) {
  const named = users.slice(0, NAMED).map((user) => `\u2068${nameOf("user", user)}\u2069`);
  const more = users.length - named.length;
  return enumeration(more ? [...named, t("andMore", { n: more })] : named);
}

/** @param {{before: readonly string[], after: readonly string[], users: readonly User[] | undefined}} props `users`: those with the role; undefined if the user cannot see them. */
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
  return t("effect.whom", { n: users.length, names: userNames(users) });
}

/** One role, or a new one: what it allows, who has it, and what a change gives or takes from whom. */
import { h } from "../vendor/preact.js";
import { listOf, readList } from "../records.js";
import { path } from "../router.js";
import { may } from "../session.js";
import { ALL, FIRST_ROLE, allWords, beyondMe } from "../scopes.js";
import { enumeration, t } from "../texts.js";
import { Person } from "../parts/people/person.js";
import { Button, Link } from "../parts/primitives/basics.js";
import { useLists } from "../parts/primitives/hooks.js";
import { widgets } from "../parts/primitives/fields.js";
import { RecordHistory } from "../parts/history/change_list.js";
import { RecordPage } from "../parts/record/record_page.js";
import { ScopeEffect, ScopeField, userNames } from "../parts/people/scopes.js";

/** @typedef {Records["role"]} Role */
const WRITE = "roles:write";
/** The number of users listed; the rest is counted, with a link to all of them. */
const LISTED = 60;

/** What a new role may begin with. @type {Record<string, readonly string[]>} */
const BEGINNINGS = {
  member: ["proposals:write"],
  moderator: ["logos:write", "themes:write", "authors:write", "users:read", "changes:read"],
  administrator: [ALL],
};

widgets.scope = (props) => [
  path.value === "roles/new" && h(Beginnings, { key: "begin", form: props.form }),
  h(ScopeField, { key: "matrix", ...props }),
];

/** @param {{form: FormState}} props */
function Beginnings({ form }) {
  const name = String(form.values.value["name"]);
  const scope = /** @type {string[]} */ (form.values.value["scope"]);
  const names = Object.keys(BEGINNINGS).map((each) => t(/** @type {any} */ (`role.begin.${each}`)));
  const taken = listOf("role").value.records?.map((each) => each.name.toLowerCase()) ?? [];
  return h("div", { class: "cluster", role: "group", "aria-label": t("role.begin") },
    h("span", { class: "hint" }, t("role.begin")),
    Object.values(BEGINNINGS).map((rights, at) =>
      h(Button, {
        key: at,
        isPressed: rights.length === scope.length && rights.every((each) => scope.includes(each)),
        reason: beyondMe(rights).length > 0 ? t("scope.beyond") : undefined,
        onClick: () => {
          const own = names[at] ?? "";
          form.set("scope", [...rights]);
          // A name that somebody typed stays.
          if (!name || names.includes(name)) form.set("name", taken.includes(own.toLowerCase()) ? "" : own);
        },
      }, names[at]),
    ),
  );
}

/** @param {{params: Record<string, string>}} props */
export default function RolePage({ params }) {
  const roleId = params.role_id === undefined ? undefined : Number(params.role_id);
  useLists("user", "role");
  const users = listOf("user").value.records;
  const holders = roleId === undefined ? [] : users?.filter((user) => user.role_id === roleId);
  return h(RecordPage, {
    kind: "role",
    recordId: params.role_id,
    list: "roles",
    newTitle: t("roles.new"),
    preview: (form) =>
      h(ScopeEffect, {
        before: /** @type {string[]} */ (form.base.value["scope"]),
        after: /** @type {string[]} */ (form.values.value["scope"]),
        users: holders,
      }),
    blocked,
    needed: (/** @type {Role} */ role) => needed(role.role_id, holders),
    explain: (failure, /** @type {Role} */ role) => {
      if (failure.kind === "conflict" && failure.detail.includes("*")) return t("last.all");
      if (failure.kind === "conflict" && failure.detail.includes("is the role of")) {
        void readList("user");
        return needed(role.role_id, holders) || t("role.needed.someone");
      }
      return failure.kind === "forbidden" && may(WRITE) ? t("role.escalation") : undefined;
    },
    ...(roleId !== undefined && {
      beside: () => h(Holders, { holders, roleId }),
      children: (/** @type {Role} */ role) => h(RecordHistory, { kind: "role", recordId: roleId, since: role }),
    }),
  });
}

/** @param {Role | undefined} role @returns {string} */
function blocked(role) {
  if (role?.scope === undefined || !may(WRITE)) return "";
  const beyond = beyondMe(role.scope);
  return beyond.length ? t("role.beyond", { what: enumeration(allWords(beyond)) }) : "";
}

/** @param {number} roleId @param {readonly Records["user"][] | undefined} holders */
function needed(roleId, holders) {
  if (roleId === FIRST_ROLE) return t("role.needed.first");
  return holders?.length ? t("role.needed", { n: holders.length, names: userNames(holders) }) : "";
}

/** @param {{holders: readonly Records["user"][] | undefined, roleId: number}} props */
function Holders({ holders, roleId }) {
  return h("section", { class: "section gap" },
    h("h2", null, t("role.holders")),
    !holders && h("p", { class: "hint" }, t("role.holders.unknown")),
    holders?.length === 0 && h("p", { class: "hint" }, t(roleId === FIRST_ROLE ? "role.holders.first" : "role.holders.none")),
    holders && holders.length > 0 &&
      h("ul", { class: "cluster people" },
        holders.slice(0, LISTED).map((user) => h("li", { key: user.user_id }, h(Link, { to: `users/${user.user_id}`, class: "person-link" }, h(Person, { user })))),
      ),
    holders && holders.length > LISTED && h(Link, { to: `users?role=${roleId}` }, t("role.holders.all", { n: holders.length })),
    holders && holders.length > 0 && roleId !== FIRST_ROLE && h("p", { class: "hint" }, t("role.holders.keep")),
  );
}

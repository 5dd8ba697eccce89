/** All users: found by a part of the name, by role, in the order one wishes. */
import { h, useState } from "../vendor/preact.js";
import { KINDS, leaveTrail, listOf, maySee } from "../records.js";
import { searchForm } from "../presentation.js";
import { query, setQuery } from "../router.js";
import { t, withTexts } from "../texts.js";
import { PeopleTabs, Person } from "../parts/people/person.js";
import { Button, EmptyState, lazy, NewRecord, NoRecords, Pending, ViewHead } from "../parts/primitives/basics.js";
import { useLists } from "../parts/primitives/hooks.js";
import { inOrder, orderChoice, Search, Toolbar } from "../parts/lists/toolbar.js";
import { Table } from "../parts/lists/table.js";

/** @typedef {Records["user"]} User */

const Invitation = lazy(withTexts(() => import("../parts/people/access.js").then((module) => module.Invitation), "factors"));

export default function Users() {
  const { records, failure } = listOf("user").value;
  const roles = listOf("role").value.records;
  const [isInviting, setInviting] = useState(false);
  const again = useLists("user", "role");
  const q = query("q");
  const roleId = query("role");
  const fits = (/** @type {User} */ user) => searchForm(user.username).includes(searchForm(q)) && (!roleId || String(user.role_id) === roleId);
  const choose = (/** @type {User[]} */ all) => inOrder(all.filter(fits), { id: "user_id", name: "username" }, query("order"));
  const found = records && choose(records);
  leaveTrail("user", found);
  // Nothing, rather than a number, until the names are read.
  const roleName = (/** @type {number} */ id) => roles && (roles.find((role) => role.role_id === id)?.name ?? t("role.number", { number: String(id) }));
  return h("div", { class: "view" },
    h(ViewHead, { title: t("users.title") },
      h(Button, { icon: "KeyRound", scope: KINDS.user.write, onClick: () => setInviting(true) }, t("invite")),
      h(NewRecord, { kind: "user" }),
    ),
    h(PeopleTabs, {}),
    h(
      Toolbar,
      {
        search: h(Search, { value: q, label: t("users.search"), search: (text) => setQuery({ q: text }) }),
        filters: !maySee("role") && !roleId ? [] : [
          {
            label: t("field.role_id"),
            value: roleId,
            choices: [["", t("filter.any")], ...(roles ?? []).map(({ role_id: id, name }) => /** @type {[string, string]} */ ([String(id), name]))],
            pick: (chosen) => setQuery({ role: chosen }),
          },
        ],
        order: orderChoice(),
      },
      h("span", { class: "found", role: "status" }, found && t("many.user", { n: found.length })),
    ),
    !maySee("user") && h(EmptyState, { icon: "Lock", title: t("needsScope", { scope: "users:read" }) }),
    isInviting && h(Invitation, { close: () => setInviting(false) }),
    maySee("user") && !records && h(Pending, { failure, again }),
    found?.length === 0 && h(NoRecords, { kind: "user", icon: "Users", clear: records?.length ? () => setQuery({ q: "", role: "" }) : undefined }),
    found && found.length > 0 &&
      h(Table, {
        records: found,
        id: (/** @type {User} */ user) => user.user_id,
        label: t("users.title"),
        to: (/** @type {User} */ user) => `users/${user.user_id}`,
        columns: [
          { name: "username", title: t("field.username"), sort: "name", cell: (/** @type {User} */ user) => [h(Person, { user }), user.active === false && h("span", { class: "state" }, t("user.suspended"))] },
          ...(maySee("role") ? [{ name: "role_id", title: t("field.role_id"), cell: (/** @type {User} */ user) => h("bdi", null, roleName(user.role_id)) }] : []),
          { name: "created_at", title: t("users.since"), sort: "created_at" },
          { name: "changed_at", title: t("field.changed"), sort: "changed" },
          { name: "user_id", title: t("field.user_id"), type: "number" },
        ],
      }),
  );
}

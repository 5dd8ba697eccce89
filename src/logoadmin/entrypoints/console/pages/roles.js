/** All roles: what each allows, and how many people have it. */
import { h } from "../vendor/preact.js";
import { leaveTrail, listOf } from "../records.js";
import { nameOf } from "../presentation.js";
import { allWords } from "../scopes.js";
import { enumeration, number, t } from "../texts.js";
import { PeopleTabs } from "../parts/people/person.js";
import { Link, NewRecord, NoRecords, Pending, ViewHead } from "../parts/primitives/basics.js";
import { useLists } from "../parts/primitives/hooks.js";

export default function Roles() {
  const { records, failure } = listOf("role").value;
  const users = listOf("user").value.records;
  leaveTrail("role", records);
  const again = useLists("role", "user");
  return h("div", { class: "view" },
    h(ViewHead, { title: t("roles.title") }, h(NewRecord, { kind: "role" })),
    h(PeopleTabs, {}),
    h("p", { class: "lead" }, t("roles.lead")),
    !records && h(Pending, { failure, again }),
    records?.length === 0 && h(NoRecords, { kind: "role", icon: "ShieldCheck" }),
    records &&
      h("ul", { class: "roles" },
        records.map((role) => {
          const count = users?.filter((user) => user.role_id === role.role_id).length;
          return h("li", { key: role.role_id, class: "box stack role" },
            h(Link, { to: `roles/${role.role_id}`, class: "role-name", dir: "auto" }, nameOf("role", role)),
            h("p", { class: "role-allows", dir: "auto" }, role.scope.length ? enumeration(allWords(role.scope)) : t("roles.nothing")),
            count !== undefined && h("p", { class: "role-count" }, h("span", { class: "number" }, number(count)), ` ${t("roles.people", { n: count })}`),
          );
        }),
      ),
  );
}

/** All roles: what each allows, and how many people have it. */
import { h, useEffect } from "../vendor/preact.js";
import { abandonReads, KINDS, leaveTrail, listOf, readList } from "../records.js";
import { returned } from "../client.js";
import { nameOf } from "../presentation.js";
import { navigate } from "../router.js";
import { may } from "../session.js";
import { allWords } from "../scopes.js";
import { enumeration, number, t } from "../texts.js";
import { PeopleTabs } from "../parts/people/person.js";
import { Button, EmptyState, Link, Pending, ViewHead } from "../parts/primitives/basics.js";

export default function Roles() {
  const { records, failure } = listOf("role").value;
  const users = listOf("user").value.records;
  leaveTrail("role", records);
  const again = () => {
    void readList("role");
    if (may("users:read")) void readList("user");
  };
  const afresh = () => {
    abandonReads("role", "user");
    again();
  };
  useEffect(again, [returned.value]);
  return h("div", { class: "view" },
    h(ViewHead, { title: t("roles.title") },
      h(Button, { tone: "primary", icon: "Plus", scope: KINDS.role.write, onClick: () => void navigate("roles/new") }, t("roles.new")),
    ),
    h(PeopleTabs, {}),
    h("p", { class: "lead" }, t("roles.lead")),
    !records && h(Pending, { failure, again: afresh }),
    records?.length === 0 && h(EmptyState, { icon: "ShieldCheck", title: t("roles.none") }, h("p", null, t("roles.none.begin"))),
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

/** What administrators see of the signing in of a user: their second factors, and what happened to the account. */
import { h, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { may, me } from "../../session.js";
import { t } from "../../texts.js";
import { Button, Link, Skeleton, Unread } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";
import { useRead } from "../primitives/use_read.js";
import { Events } from "./events.js";
import { FactorRows } from "./factor_rows.js";

/** @typedef {{user_id: number, username: string}} User */
const READ = "users:read";
const WRITE = "users:write";

/** @param {{user: User, reason: string | undefined}} props `reason` is why one may not change the user. */
export function UserSecurity({ user, reason }) {
  const own = user.user_id === me.value?.user_id;
  const [changes, setChanges] = useState(0);
  return [
    h("section", { key: "factors", class: "section" }, h("h2", null, t("factor.heading")), own ? h("p", null, h(Link, { to: "account" }, t("factor.own"))) : h(Factors, { user, reason, changed: () => setChanges(changes + 1) })),
    h("section", { key: "events", class: "section" }, h("h2", null, t("events.user")), own || may(READ) ? h(Events, { userId: user.user_id, label: t("events.user"), since: changes }) : h("p", { class: "hint" }, t("needsScope", { scope: READ }))),
  ];
}

/** @param {{user: User, reason: string | undefined, changed: () => void}} props */
function Factors({ user, reason, changed }) {
  const { user_id: id, username: name } = user;
  const { data: factors, failure, again } = useRead(async (signal) => (await call("get", "/api/users/{user_id}/factors", { path: { user_id: id }, signal })).data, [id]);
  const [busy, setBusy] = useState(false);
  if (!factors) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});
  const remove = async () => {
    setBusy(true);
    try {
      const answer = await call("delete", "/api/users/{user_id}/factors", { path: { user_id: id } });
      say(t("factor.removed.all", { n: answer.data.removed, name }));
    } catch (error) {
      if (error instanceof Failure && error.kind === "conflict") say(t("factor.needed"), { tone: "failed" });
      else sayFailure(error, () => void remove());
    } finally {
      setBusy(false);
      changed();
      await again();
    }
  };
  const sure = async () => {
    if (await ask({ title: t("factor.remove.all.ask", { name }), text: t("factor.remove.all.text"), yes: t("factor.remove.all"), no: t("cancel"), tone: "danger" })) await remove();
  };
  if (factors.length === 0) return h("p", { class: "hint" }, t("factor.none.user"));
  return h("div", { class: "stack loose" },
    h(FactorRows, { factors, label: t("factor.heading") }),
    h("p", { class: "hint" }, t("factor.remove.all.hint")),
    h("div", null, h(Button, { tone: "danger", scope: WRITE, reason, busy, onClick: () => void sure() }, t("factor.remove.all"))),
  );
}

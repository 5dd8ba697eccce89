/** Second factors: one's own with recovery codes, and those of a user as administrators see them. */
import Enrolment from "./enrolment.js";
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { may, me, whoAmI } from "../../session.js";
import { t } from "../../texts.js";
import { Button, dotted, Link, Pending, Time } from "../primitives/basics.js";
import { useRead, useRun } from "../primitives/hooks.js";
import { ask, Dialog } from "../primitives/dialog.js";
import { RecoveryCodes } from "./enrolment.js";
import { Events } from "./events.js";

/** With this number of recovery codes or fewer, new ones are suggested. */
const FEW = 3;

/** @param {{changed: () => void}} props */
export function MyFactors({ changed: report }) {
  const { data, failure, again } = useRead(async (signal) => {
    const [factors, codes] = await Promise.all([call("get", "/api/auth/factors", { signal }), call("get", "/api/auth/recovery-codes", { signal })]);
    return { factors: factors.data, left: codes.data.left };
  });
  const [adding, setAdding] = useState(false);
  if (!data) return h(Pending, { failure, again });
  const { factors, left } = data;
  const changed = () => {
    // A factor that was required is required no longer.
    void whoAmI().catch(() => undefined);
    report();
    return again();
  };
  const enrolled = () => {
    setAdding(false);
    say(t("factor.added"));
    void changed();
  };
  const apps = factors.filter(({ kind }) => kind === "totp").length;
  const enrolment = h(Enrolment, { done: enrolled, ...(apps > 0 && { name: `${t("factor.totp")} ${apps + 1}` }) });
  if (factors.length === 0) return h("div", { class: "stack loose" }, h("p", null, t("factor.none")), enrolment);
  return h("div", { class: "stack loose" },
    h("p", { class: "hint" }, t("factor.hint")),
    h(FactorRows, { factors, label: t("factor.heading"), action: (its) => h(Remove, { its, isLast: factors.length === 1, changed }) }, h(Codes, { left, changed })),
    adding ? h("div", { class: "box card-form stack loose" }, enrolment, h("div", null, h(Button, { tone: "quiet", onClick: () => setAdding(false) }, t("cancel")))) : h("div", null, h(Button, { icon: "Plus", onClick: () => setAdding(true) }, t("factor.add"))),
  );
}

/** Say why factors were not removed: the last administrator needs one. @param {Failure} failure @param {() => void} again */
const notRemoved = (failure, again) => (failure.kind === "conflict" ? say(t("factor.needed"), { tone: "failed" }) : sayFailure(failure, again));

/** @param {{its: Factor, isLast: boolean, changed: () => Promise<void>}} props */
function Remove({ its, isLast, changed }) {
  const { busy, run } = useRun({ after: changed, failed: notRemoved });
  const remove = () => call("delete", "/api/auth/factors/{factor_id}", { path: { factor_id: its.factor_id } });
  const sure = async () => {
    const text = [t(isLast ? "factor.remove.last" : "factor.remove.text"), its.kind === "passkey" && t("factor.remove.passkey")].filter(Boolean).join(" ");
    if (await ask({ title: t("factor.remove.ask", { name: its.name }), text, yes: t("remove"), no: t("cancel"), tone: "danger" })) await run(remove, () => say(t("removed", { name: its.name })));
  };
  return h(Button, { tone: "danger", busy: busy !== "", onClick: () => void sure() }, t("remove"), h("span", { class: "hidden", dir: "auto" }, `: ${its.name}`));
}

/** How many recovery codes are left, and new ones. @param {{left: number, changed: () => Promise<void>}} props */
function Codes({ left, changed }) {
  const { busy, run } = useRun();
  const [codes, setCodes] = useState(/** @type {readonly string[]} */ ([]));
  const sure = async () => {
    const question = { title: t("recovery.ask"), text: t("recovery.ask.text"), yes: t("recovery.make"), no: t("cancel") };
    if (left === 0 || (await ask(question))) await run(() => call("post", "/api/auth/recovery-codes", {}), ({ data }) => setCodes(data.recovery_codes));
  };
  const close = () => {
    setCodes([]);
    void changed();
  };
  return [
    h("li", { key: "left", class: "spread row" },
      h("div", { class: "stack tight row-text" },
        h("p", { class: "row-name" }, t("recovery.codes")),
        h("p", { class: left > FEW ? "hint" : "problem" }, left > FEW ? t("recovery.left", { n: left }) : t("recovery.few", { n: left })),
      ),
      h(Button, { busy: busy !== "", onClick: () => void sure() }, t("recovery.make")),
    ),
    codes.length > 0 && h(Dialog, { key: "codes", title: t("recovery.codes") }, h(RecoveryCodes, { codes, done: close })),
  ];
}

/** @typedef {{user_id: number, username: string}} User */
const READ = "users:read";
const WRITE = "users:write";

/** The second factors of a user and the events of the account, for administrators. @param {{user: User, reason: string | undefined}} props `reason` is why one may not change the user. */
export function UserSecurity({ user, reason }) {
  const own = user.user_id === me.value?.user_id;
  const [changes, setChanges] = useState(0);
  return [
    h("section", { key: "factors", class: "section" }, h("h2", null, t("factor.heading")), own ? h("p", null, h(Link, { to: "account" }, t("factor.own"))) : h(TheirFactors, { user, reason, changed: () => setChanges(changes + 1) })),
    h("section", { key: "events", class: "section" }, h("h2", null, t("events.user")), own || may(READ) ? h(Events, { userId: user.user_id, label: t("events.user"), since: changes }) : h("p", { class: "hint" }, t("needsScope", { scope: READ }))),
  ];
}

/** @param {{user: User, reason: string | undefined, changed: () => void}} props */
function TheirFactors({ user, reason, changed }) {
  const { user_id: id, username: name } = user;
  const { data: factors, failure, again } = useRead(async (signal) => (await call("get", "/api/users/{user_id}/factors", { path: { user_id: id }, signal })).data, [id]);
  const after = () => {
    changed();
    return again();
  };
  const { busy, run } = useRun({ after, failed: notRemoved });
  if (!factors) return h(Pending, { failure, again });
  const remove = () => call("delete", "/api/users/{user_id}/factors", { path: { user_id: id } });
  const removed = (/** @type {Answer} */ { data }) => say(t("factor.removed.all", { n: data.removed ?? factors.length, name }));
  const sure = async () => {
    if (await ask({ title: t("factor.remove.all.ask", { name }), text: t("factor.remove.all.text"), yes: t("factor.remove.all"), no: t("cancel"), tone: "danger" })) await run(remove, removed);
  };
  if (factors.length === 0) return h("p", { class: "hint" }, t("factor.none.user"));
  return h("div", { class: "stack loose" },
    h(FactorRows, { factors, label: t("factor.heading") }),
    h("p", { class: "hint" }, t("factor.remove.all.hint")),
    h("div", null, h(Button, { tone: "danger", scope: WRITE, reason, busy: busy !== "", onClick: () => void sure() }, t("factor.remove.all"))),
  );
}

/** @typedef {Schemas["ListedFactor"]} Factor */

/** The second factors of a user, as rows. @param {{factors: Factor[], label: string, action?: (factor: Factor) => any, children?: any}} props `action` is at the end of a row. */
function FactorRows({ factors, label, action, children }) {
  return h("ul", { class: "box divided rows", "aria-label": label }, factors.map((each) => h(Row, { key: each.factor_id, its: each, action })), children);
}

/** @param {{its: Factor, action: ((factor: Factor) => any) | undefined}} props */
function Row({ its, action }) {
  return h("li", { class: "spread row" },
    h("div", { class: "stack tight row-text" },
      h("p", { class: "row-name" }, h("bdi", null, its.name)),
      h("p", { class: "hint" }, dotted(
        t(`factor.${its.kind}`),
        its.last_used_at === null ? t("factor.unused") : [t("factor.used"), " ", h(Time, { seconds: its.last_used_at })],
        [t("factor.created"), " ", h(Time, { seconds: its.created_at })],
      )),
    ),
    action?.(its),
  );
}

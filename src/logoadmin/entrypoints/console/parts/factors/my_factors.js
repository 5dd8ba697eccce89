/** One's own second factors and recovery codes. */
import { h, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { whoAmI } from "../../session.js";
import { t } from "../../texts.js";
import { Button, Skeleton, Unread } from "../primitives/basics.js";
import { ask, Dialog } from "../primitives/dialog.js";
import { useRead } from "../primitives/use_read.js";
import Enrolment from "../people/enrolment.js";
import { FactorRows } from "./factor_rows.js";
import { RecoveryCodes } from "./recovery_codes.js";

/** @typedef {import("./factor_rows.js").Factor} Factor */

/** With this number of recovery codes or fewer, new ones are suggested. */
const FEW = 3;

/** @param {{changed: () => void}} props */
export function MyFactors(props) {
  return [h("h2", { key: "heading" }, t("factor.heading")), h(Factors, { key: "factors", ...props })];
}

/** @param {{changed: () => void}} props */
function Factors({ changed: report }) {
  const { data, failure, again } = useRead(async (signal) => {
    const [factors, codes] = await Promise.all([call("get", "/api/auth/factors", { signal }), call("get", "/api/auth/recovery-codes", { signal })]);
    return { factors: factors.data, left: codes.data.left };
  });
  const [adding, setAdding] = useState(false);
  if (!data) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});
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
  const enrolment = h(Enrolment, { done: enrolled, ...(apps > 0 && { name: `${t("enrol.app.name")} ${apps + 1}` }) });
  if (factors.length === 0) return h("div", { class: "stack loose" }, h("p", null, t("factor.none")), enrolment);
  return h("div", { class: "stack loose" },
    h("p", { class: "hint" }, t("factor.hint")),
    h(FactorRows, { factors, label: t("factor.heading"), action: (its) => h(Remove, { its, isLast: factors.length === 1, changed }) }, h(Codes, { left, changed })),
    adding ? h("div", { class: "box card-form stack loose" }, enrolment, h("div", null, h(Button, { tone: "quiet", onClick: () => setAdding(false) }, t("cancel")))) : h("div", null, h(Button, { icon: "Plus", onClick: () => setAdding(true) }, t("factor.add"))),
  );
}

/** @param {{its: Factor, isLast: boolean, changed: () => Promise<void>}} props */
function Remove({ its, isLast, changed }) {
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      await call("delete", "/api/auth/factors/{factor_id}", { path: { factor_id: its.factor_id } });
      say(t("factor.removed", { name: its.name }));
    } catch (error) {
      if (error instanceof Failure && error.kind === "conflict") say(t("factor.needed"), { tone: "failed" });
      else sayFailure(error, () => void remove());
    } finally {
      setBusy(false);
      await changed();
    }
  };
  const sure = async () => {
    const text = [t(isLast ? "factor.remove.last" : "factor.remove.text"), its.kind === "passkey" && t("factor.remove.passkey")].filter(Boolean).join(" ");
    if (await ask({ title: t("factor.remove.ask", { name: its.name }), text, yes: t("factor.remove"), no: t("cancel"), tone: "danger" })) await remove();
  };
  return h(Button, { tone: "danger", busy, onClick: () => void sure() }, t("factor.remove"), h("span", { class: "hidden", dir: "auto" }, `: ${its.name}`));
}

/** How many recovery codes are left, and new ones. @param {{left: number, changed: () => Promise<void>}} props */
function Codes({ left, changed }) {
  const [busy, setBusy] = useState(false);
  const [codes, setCodes] = useState(/** @type {readonly string[]} */ ([]));
  /** @param {() => Promise<any>} send */
  const make = async (send) => {
    setBusy(true);
    try {
      setCodes((await send()).data.recovery_codes);
    } catch (error) {
      sayFailure(error, () => void make(error instanceof Failure && error.repeat ? error.repeat : send));
    } finally {
      setBusy(false);
    }
  };
  const sure = async () => {
    const question = { title: t("recovery.ask"), text: t("recovery.ask.text"), yes: t("recovery.make"), no: t("cancel") };
    if (left === 0 || (await ask(question))) await make(() => call("post", "/api/auth/recovery-codes", {}));
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
      h(Button, { busy, onClick: () => void sure() }, t("recovery.make")),
    ),
    codes.length > 0 && h(Dialog, { key: "codes", title: t("recovery.codes") }, h(RecoveryCodes, { codes, done: close })),
  ];
}

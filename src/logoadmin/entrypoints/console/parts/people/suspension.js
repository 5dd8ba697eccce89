/** Suspending a user, what that means while it lasts, and its end. */
import { h } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { may, me } from "../../session.js";
import { t } from "../../texts.js";
import { MenuItem } from "../primitives/action_menu.js";
import { Band } from "../primitives/band.js";
import { Button } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";

/** @typedef {import("../record/editing.js").Editing} Editing */
const WRITE = "users:write";

/** @param {Editing} editing @param {boolean} active */
function switchTo(editing, active) {
  const path = { user_id: Number(editing.recordId) };
  const words = (/** @type {string} */ name) => t(active ? "user.active.done" : "user.suspend.done", { name });
  return editing.write(() => call("patch", "/api/users/{user_id}", { path, body: { active } }), words);
}

/** @param {{editing: Editing, reason: string | undefined}} props `reason` is why one may not change the user. */
export function Suspend({ editing, reason }) {
  const user = editing.record.value;
  if (user.active === false || user.user_id === me.value?.user_id) return null;
  const suspend = async () => {
    const { name } = editing;
    if (await ask({ title: t("user.suspend.ask", { name }), text: t("user.suspend.text"), yes: t("user.suspend"), no: t("cancel"), tone: "danger" })) await switchTo(editing, false);
  };
  return h(MenuItem, { tone: "danger", icon: "Ban", scope: WRITE, reason, busy: editing.isBusy.value, onClick: () => void suspend() }, t("user.suspend"));
}

/** @param {{editing: Editing, reason: string | undefined}} props */
export function Suspended({ editing, reason }) {
  if (editing.record.value.active !== false) return null;
  const actions = may(WRITE) && h(Button, { icon: "Power", reason, busy: editing.isBusy.value, onClick: () => void switchTo(editing, true) }, t("user.active"));
  return h(Band, { icon: "Ban", tone: "danger", title: t("user.suspended.text", { name: editing.name }), actions }, h("p", null, t("user.suspended.do")));
}

/** How users get in, or do not: links that sign somebody in once (contract R5), secrets that are shown once, suspension. */
import { h, signal, useEffect, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { readList } from "../../records.js";
import { guard, path } from "../../router.js";
import { may, me } from "../../session.js";
import { t } from "../../texts.js";
import { MenuItem } from "../primitives/action_menu.js";
import { Band, Button, Copy } from "../primitives/basics.js";
import { useRun } from "../primitives/hooks.js";
import { ask, Dialog } from "../primitives/dialog.js";
import { TextField } from "../primitives/fields.js";
import { FormDialog } from "../primitives/form_dialog.js";

const WRITE = "users:write";

/** @param {Failure} failure @returns {string | undefined} what it means for a new member */
function explain(failure) {
  if (failure.kind === "forbidden") return t("invite.rights");
  if (failure.kind !== "conflict") return undefined;
  return failure.detail.startsWith("No role") ? t("invite.role") : failure.detail.startsWith("Duplicate") ? t("invite.taken") : undefined;
}

/** @param {{username: string} | {user_id: number}} body A new user, or an existing user. */
const make = (body) => call("post", "/api/auth/links", { body });

/** Who is invited, and then the link. @param {{close: () => void}} props */
export function Invitation({ close }) {
  const [link, setLink] = useState(/** @type {Secret | undefined} */ (undefined));
  const leave = () => {
    // Also after a link whose answer was lost.
    void readList("user");
    close();
  };
  if (link) return h(ShownOnce, { ...link, close: leave });
  return h(FormDialog, {
    title: t("invite.title"),
    operation: "create_link",
    kind: "user",
    fields: ["username"],
    yes: t("invite.make"),
    send: make,
    made: ({ data }, { username }) => setLink(madeLink(username, data.url)),
    explain,
    close: leave,
  });
}

/** @typedef {{title: string, text: string, label: string, secret: string}} Secret A secret that is shown once. */

/** @param {string} name @param {string} url @returns {Secret} */
const madeLink = (name, url) => ({ title: t("invite.made", { name }), text: t("invite.made.text"), label: t("invite.link"), secret: url });

/** The link or the password that was just made for the user of the page. */
const once = signal(/** @type {Secret & {at: string} | undefined} */ (undefined));

/** Show a secret on a page, unless the person has left that. @param {Secret} secret @param {string} [at] Its path. */
export const showOnce = (secret, at = path.value) => void (at === path.value && (once.value = { ...secret, at }));

/** The secret, as long as its page is open. */
export const Once = () => (once.value?.at === path.value ? h(ShownOnce, { ...once.value, close: () => (once.value = undefined) }) : null);

/** Another link, in the menu of a user. @param {{user: {user_id: number, username: string, active?: boolean}, reason: string | undefined}} props */
export function InviteAgain({ user, reason }) {
  const failed = (/** @type {Failure} */ failure, /** @type {() => void} */ retry) => (failure.kind === "forbidden" ? say(t("invite.otherwise"), { tone: "failed" }) : sayFailure(failure, retry));
  const { busy, run } = useRun({ failed });
  if (user.active === false || user.user_id === me.value?.user_id) return null;
  const at = path.value;
  const made = (/** @type {Answer} */ { data }) => showOnce(madeLink(user.username, data.url), at);
  return h(MenuItem, { icon: "KeyRound", scope: WRITE, reason, busy: busy !== "", onClick: () => void run(() => make({ user_id: user.user_id }), made) }, t("invite.again"));
}

/** @param {Editing} editing @param {boolean} active */
function switchTo(editing, active) {
  const path = { user_id: Number(editing.recordId) };
  const words = (/** @type {string} */ name) => t(active ? "user.active.done" : "user.suspend.done", { name });
  return editing.write(() => call("patch", "/api/users/{user_id}", { path, body: { active } }), words);
}

/** Suspending a user, what that means while it lasts, and its end. @param {{editing: Editing, reason: string | undefined}} props `reason` is why one may not change the user. */
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

/** A secret that is shown once, such as a new key or the password of a new user. @param {Secret & {close: () => void}} props Leaving the page calls `close` as well. */
export function ShownOnce({ title, text, label, secret, close }) {
  useEffect(() => {
    // It is never shown again, so Back asks first.
    const release = guard(() => true);
    return () => {
      release();
      close();
    };
  }, []);
  return h(Dialog, { title },
    h("p", { dir: "auto" }, text),
    h(TextField, { label, value: secret, set: () => undefined, look: "mono", readOnly: true, onFocus: (/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.currentTarget).select() }),
    h("div", { class: "cluster dialog-actions" }, h(Copy, { text: secret }), h("button", { type: "button", class: "button primary", onClick: close }, t("done"))),
  );
}

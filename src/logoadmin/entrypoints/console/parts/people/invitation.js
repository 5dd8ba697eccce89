/** Links that sign somebody in once: for a new member, or for a user without another way to sign in (contract R5). */
import { h, signal, useEffect, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { readList } from "../../records.js";
import { path } from "../../router.js";
import { me } from "../../session.js";
import { t } from "../../texts.js";
import { MenuItem } from "../primitives/action_menu.js";
import { useFocusReturn } from "../primitives/dialog.js";
import { FormDialog } from "../primitives/form_dialog.js";
import { nextUserId } from "./next_user.js";
import { ShownOnce } from "./shown_once.js";

/** @typedef {import("../../client.js").Failure} Failure */
const WRITE = "users:write";
const FIELDS = ["username", "user_id"];

/** The link that was just made, on the page where that was. */
const made = signal(/** @type {{at: string, name: string, url: string} | undefined} */ (undefined));

/** @param {Failure} failure @returns {string | undefined} what it means for a link */
function explain(failure) {
  if (failure.kind === "forbidden") return t("invite.otherwise");
  if (failure.kind === "conflict" && failure.detail.startsWith("No role")) return t("invite.role");
  return undefined;
}

/** @param {{user_id: number, username: string}} body */
const make = (body) => call("post", "/api/auth/links", { body });

/** Who is invited, and then the link. @param {{close: () => void}} props */
export function Invitation({ close }) {
  const [typed, setTyped] = useState(/** @type {Record<string, unknown> | undefined} */ (undefined));
  useFocusReturn();
  useEffect(() => void nextUserId().then((id) => setTyped(id === undefined ? {} : { user_id: id })), []);
  if (made.value) return h(Made, { done: close });
  return (
    typed &&
    h(FormDialog, {
      title: t("invite.title"),
      operation: "create_link",
      kind: "user",
      fields: FIELDS,
      typed,
      yes: t("invite.make"),
      send: make,
      made: ({ data }, { username }) => {
        made.value = { at: path.value, name: username, url: data.url };
        void readList("user");
      },
      explain,
      close,
    })
  );
}

/** Another link, in the menu of a user. @param {{user: {user_id: number, username: string, active?: boolean}, reason: string | undefined}} props */
export function InviteAgain({ user, reason }) {
  const [busy, setBusy] = useState(false);
  if (user.active === false || user.user_id === me.value?.user_id) return null;
  const { user_id, username } = user;
  const again = async () => {
    setBusy(true);
    try {
      const { data } = await make({ user_id, username });
      made.value = { at: path.value, name: username, url: data.url };
    } catch (error) {
      const words = explain(/** @type {Failure} */ (error));
      if (words) say(words, { tone: "failed" });
      else sayFailure(error, () => void again());
    } finally {
      setBusy(false);
    }
  };
  return h(MenuItem, { icon: "KeyRound", scope: WRITE, reason, busy, onClick: () => void again() }, t("invite.again"));
}

/** The link, as long as the page where it was made is open. @param {{done?: () => void}} props */
export function Made({ done }) {
  const link = made.value;
  if (link?.at !== path.value) return null;
  const close = () => {
    made.value = undefined;
    done?.();
  };
  return h(ShownOnce, { title: t("invite.made", { name: link.name }), text: t("invite.made.text"), label: t("invite.link"), secret: link.url, close });
}

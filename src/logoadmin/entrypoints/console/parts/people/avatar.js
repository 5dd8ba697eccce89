/** The picture of a user, or the first letter of their name. */
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { sayDone, sayFailure } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Text, widgets } from "../primitives/fields.js";
import { lazy } from "../primitives/lazy.js";
import { useShown } from "../primitives/shown_picture.js";
import { NameMark } from "./name_mark.js";

/** @typedef {{user_id: number, username: string, avatar: string | null}} Somebody */

/** @param {{user: Somebody, size?: "" | "middle" | "large"}} props */
export function Avatar({ user, size = "" }) {
  const { source, onError } = useShown(user.avatar ?? "");
  // Not a mark that only turns the direction of writing, nor one that belongs to the letter before it.
  const letter = /[^\p{C}\p{M}\p{Z}]/u.exec(user.username)?.[0] ?? "";
  return h(
    "span",
    { class: `avatar ${size}`, "aria-hidden": true },
    source
      ? h("img", { key: source, src: source, alt: "", loading: "lazy", decoding: "async", referrerPolicy: "no-referrer", onError })
      : letter.toUpperCase(),
  );
}

/** A user as they stand in lists. @param {{user: Somebody}} props */
export const Person = ({ user }) => h("span", { class: "person" }, h(Avatar, { user }), h("bdi", { class: "clip" }, nameOf("user", user)), h(NameMark, { user }));

/**
 * One's own avatar, where it comes from, and its end, which takes no right.
 * @param {{user: Somebody, changed: () => void}} props
 */
export function AvatarCard({ user, changed }) {
  const [busy, setBusy] = useState(false);
  const remove = async () => {
    setBusy(true);
    try {
      const answer = await call("delete", "/api/users/{user_id}/avatar", { path: { user_id: user.user_id } });
      sayDone(t("avatar.removed", { name: user.username }), [answer.requestId], changed);
      changed();
    } catch (error) {
      sayFailure(error, () => void remove());
    } finally {
      setBusy(false);
    }
  };
  return h(
    "div",
    { class: "avatar-card" },
    h(Avatar, { user, size: "large" }),
    h(
      "div",
      { class: "stack avatar-about" },
      h("p", { class: "hint" }, user.avatar ? h("bdi", null, user.avatar) : t("avatar.none")),
      user.avatar && h(Button, { busy, onClick: () => void remove() }, t("avatar.remove")),
    ),
  );
}

const PictureSource = lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.PictureSource), "pictures"));

/** The avatar in a form: as it is typed, so it looks. @param {import("../primitives/fields.js").WidgetProps} props */
function AvatarField(props) {
  const { form, field, disabled } = props;
  const { [field.name]: avatar, username } = form.values.value;
  const remove = (/** @type {MouseEvent} */ { currentTarget }) => {
    /** @type {HTMLElement} */ (currentTarget).closest(".avatar-field")?.querySelector("input")?.focus();
    form.set(field.name, null);
  };
  return h(
    "div",
    { class: "avatar-field" },
    h(Avatar, { user: { user_id: 0, username: String(username ?? ""), avatar: avatar ? String(avatar) : null }, size: "middle" }),
    h(Text, props),
    h(PictureSource, props),
    Boolean(avatar) && !disabled && h(Button, { onClick: remove }, t("avatar.remove")),
  );
}

widgets.avatar = AvatarField;

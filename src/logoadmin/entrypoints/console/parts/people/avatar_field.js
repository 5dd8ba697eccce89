/** The avatar of a user, which the form changes and its owner can remove. */
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { sayDone, sayFailure } from "../../notices.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Text, widgets } from "../primitives/fields.js";
import { lazy } from "../primitives/lazy.js";
import { Avatar } from "./avatar.js";

/** @typedef {import("./avatar.js").Somebody} Somebody */

/** One's own avatar, where it comes from, and its end, which takes no right. @param {{user: Somebody, changed: () => void}} props */
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
  return h("div", { class: "avatar-card" },
    h(Avatar, { user, size: "large" }),
    h("div", { class: "stack avatar-about" },
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
  return h("div", { class: "avatar-field" },
    h(Avatar, { user: { user_id: 0, username: String(username ?? ""), avatar: avatar ? String(avatar) : null }, size: "middle" }),
    h(Text, props),
    h(PictureSource, { value: avatar, set: (/** @type {string} */ url) => form.set(field.name, url), disabled }),
    Boolean(avatar) && !disabled && h(Button, { onClick: remove }, t("avatar.remove")),
  );
}

widgets.avatar = AvatarField;

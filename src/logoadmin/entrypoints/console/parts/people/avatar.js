/** The picture of a user, or the first letter of their name. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { useShown } from "../primitives/shown_picture.js";
import { NameMark } from "./name_mark.js";

/** @typedef {{user_id: number, username: string, avatar: string | null}} Somebody */

/** @param {{user: Somebody, size?: "" | "middle" | "large"}} props */
export function Avatar({ user, size = "" }) {
  const { source, onError } = useShown(user.avatar ?? "");
  // Not a mark that only turns the direction of writing, nor one that belongs to the letter before it.
  const letter = /[^\p{C}\p{M}\p{Z}]/u.exec(user.username)?.[0] ?? "";
  return h("span", { class: `avatar ${size}`, "aria-hidden": true },
    source
      ? h("img", { key: source, src: source, alt: "", loading: "lazy", decoding: "async", referrerPolicy: "no-referrer", onError })
      : letter.toUpperCase(),
  );
}

/** A user as they stand in lists. @param {{user: Somebody}} props */
export const Person = ({ user }) => h("span", { class: "person" }, h(Avatar, { user }), h("bdi", { class: "clip" }, nameOf("user", user)), h(NameMark, { record: user }));

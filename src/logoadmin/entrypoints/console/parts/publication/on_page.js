/** The way from a logo or a theme to its page for visitors. */
import { h } from "../../vendor/preact.js";
import { PAGE } from "../../look.js";
import { statesOf } from "../../reader_states.js";
import { t } from "../../texts.js";

/** @param {{kind: "logo" | "theme", id: number, key?: any}} props Of an active one; what is not published has no page. */
export function OnPage({ kind, id }) {
  const { blocked, left_out: leftOut } = statesOf(kind, id);
  return PAGE && !blocked && !leftOut ? h("a", { href: new URL(`${kind}s/${id}/`, PAGE).href, target: "_blank", rel: "noreferrer" }, t("page.on")) : null;
}

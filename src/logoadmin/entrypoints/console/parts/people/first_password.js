/** The first administrator's password was made by the program and printed: here is the offer of another one. */
import { h } from "../../vendor/preact.js";
import { generatedPassword } from "../../session.js";
import { path } from "../../router.js";
import { t } from "../../texts.js";
import { Button, Link } from "../primitives/basics.js";

export function FirstPassword() {
  if (!generatedPassword.value || path.value === "account") return null;
  return h(
    "aside",
    { class: "offered", "aria-label": t("first.title") },
    h("p", null, t("first.text")),
    h(Link, { to: "account", class: "button primary" }, t("first.change")),
    h(Button, { tone: "quiet", onClick: () => (generatedPassword.value = false) }, t("first.later")),
  );
}

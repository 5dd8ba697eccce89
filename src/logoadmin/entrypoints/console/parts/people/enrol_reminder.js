/** The reminder that a second factor is required soon (contract O4). */
import { h } from "../../vendor/preact.js";
import { me } from "../../session.js";
import { path } from "../../router.js";
import { exactTime, t } from "../../texts.js";
import { Link } from "../primitives/basics.js";

export function EnrolReminder() {
  const until = me.value?.enrol_by;
  if (!until || path.value === "account") return null;
  return h(
    "aside",
    { class: "offered", "aria-label": t("mustEnrol.soon") },
    h("p", null, t("mustEnrol.soon.text", { time: exactTime(until) })),
    h(Link, { to: "account", class: "button primary" }, t("mustEnrol.begin")),
  );
}

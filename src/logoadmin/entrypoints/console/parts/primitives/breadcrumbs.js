/** Where a view stands: the list that it belongs to, as the user last saw it, and its own name. */
import { h } from "../../vendor/preact.js";
import { withChoices } from "../../router.js";
import { t } from "../../texts.js";
import { Link } from "./basics.js";

/** @param {{list: string, title: string, name: string}} props `list` is the path of the list, `title` its name. */
export function Breadcrumbs({ list, title, name }) {
  return h("nav", { class: "breadcrumbs", "aria-label": t("breadcrumbs") },
    h("ol", null, h("li", null, h(Link, { to: withChoices(list) }, title)), h("li", { "aria-current": "page", dir: "auto" }, name)),
  );
}

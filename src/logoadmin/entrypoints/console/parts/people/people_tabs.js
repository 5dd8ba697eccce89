/** The two lists of people: the users, and the roles that say what they may do. */
import { h } from "../../vendor/preact.js";
import { maySee } from "../../records.js";
import { path } from "../../router.js";
import { t } from "../../texts.js";
import { Link } from "../primitives/basics.js";

const KINDS = /** @type {const} */ (["user", "role"]);

export const PeopleTabs = () =>
  h("nav", { class: "segmented", "aria-label": t("people.title") },
    KINDS.filter(maySee).map((kind) => h(Link, { key: kind, to: `${kind}s`, "aria-current": path.value === `${kind}s` ? "page" : undefined }, t(`${kind}s.title`))),
  );

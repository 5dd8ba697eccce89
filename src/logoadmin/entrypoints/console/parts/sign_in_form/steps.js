/** The steps of a sign-in: a password, a passkey or the issuer first, then a second factor; or a code from an administrator. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { PAGE } from "../../look.js";
import { asksAgain, pageConfig, signIn } from "../../session.js";
import { t } from "../../texts.js";
import { Button, Form, Icon, rich } from "../primitives/basics.js";
import { Field, otherAddress, Refusal, Submit, useAttempt, withName } from "./attempt.js";
import { askIssuer, beginning, goToIssuer, isOpenId } from "./issuer.js";
import { chosen, hasPasskeys, offered, passkeyAlone } from "./passkey.js";

/**
 * @param {object} props
 * @param {import("./attempt.js").Ways} props.ways
 * @param {string} props.name
 * @param {boolean} props.isAgain Whether the same user has to sign in again, in place.
 * @param {string} props.submit What the button says.
 * @param {unknown} props.said Why one is here again, as `useAttempt` takes it.
 * @param {(grant: {username: string, password: string}) => Promise<void>} props.send
 * @param {(name: string) => void} props.others To the other ways.
 */
export function FirstStep({ ways, name, isAgain, submit, said, send, others }) {
  const attempt = useAttempt(said);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const elsewhere = otherAddress(ways);
  const passkeys = ways.passkey && hasPasskeys && !elsewhere;
  const [offer, setOffer] = useState(0);
  useEffect(() => {
    const fields = [...(form.current?.querySelectorAll("input:not([readonly])") ?? [])];
    /** @type {HTMLInputElement | undefined} */ (fields.find((field) => /** @type {HTMLInputElement} */ (field).value === "") ?? fields[0])?.focus();
  }, []);
  useEffect(() => {
    // In place the name is fixed: there is no field in which a browser could offer something.
    if (!passkeys || !ways.password || isAgain) return undefined;
    const stop = new AbortController();
    offered(stop.signal).then(async (grant) => {
      if (grant && (await attempt.run(() => signIn(grant), "signIn.passkey.wrong"))) setOffer(offer + 1);
    });
    return () => stop.abort();
  }, [passkeys, offer]);
  const typed = () => String(new FormData(form.current ?? undefined).get("username") ?? name);
  const submitted = async (/** @type {HTMLFormElement} */ filled) => {
    const given = new FormData(filled);
    const error = await attempt.run(() => send({ username: String(given.get("username")), password: String(given.get("password")) }), "signIn.wrong");
    if (error) /** @type {HTMLInputElement | null | undefined} */ (form.current?.querySelector("[name=password]"))?.select();
  };
  const usePasskey = async () => {
    const error = await attempt.run(async () => signIn(await passkeyAlone()), "signIn.passkey.wrong");
    // The browser makes one offer at a time, and has ended its own for this one.
    if (error) setOffer(offer + 1);
  };
  // Newcomers begin with it; in place, one goes on as before.
  const isFirst = ways.issuer && !elsewhere && !isAgain;
  const issuer = ways.issuer && !elsewhere && h(IssuerButton, { issuer: ways.issuer, isAgain, isMain: isFirst || !ways.password, attempt });
  return h("div", { class: "form" },
    isFirst && h("div", { class: "stack" }, issuer, h(Joining, { ways })),
    ways.password &&
      h(Form, { element: form, noValidate: false, send: submitted },
        h(Field, { id: "username", label: t("signIn.username"), attempt, autocomplete: passkeys ? "username webauthn" : "username", defaultValue: name, readOnly: isAgain, onInput: attempt.clear }),
        h(Field, { id: "password", label: t("field.password"), attempt, type: "password", autocomplete: "current-password", autofocus: isAgain, "aria-invalid": attempt.problem.text !== "" }),
        h(Refusal, { attempt }),
        h(Submit, { attempt, words: submit, tone: isFirst ? "plain" : "primary" }),
      ),
    !ways.password && h(Refusal, { attempt }),
    h("div", { class: "stack" },
      !isFirst && issuer,
      passkeys && h("button", { type: "button", class: "button plain wide", "aria-disabled": attempt.off, onClick: usePasskey }, h(Icon, { name: "KeyRound" }), t("signIn.passkey")),
      elsewhere && (ways.issuer || ways.passkey) && h("p", { class: "hint" }, rich("signIn.elsewhere", { address: h("a", { href: elsewhere }, elsewhere) })),
      h("button", { type: "button", class: "button quiet wide", onClick: () => others(typed()) }, t("signIn.others")),
    ),
    !isFirst && !isAgain && h(Joining, { ways }),
  );
}

/**
 * @typedef {"totp" | "passkey" | "recovery_code"} Factor
 * @typedef {{challenge: string, factors: Factor[], passkey?: object, until: number}} Challenge `until` in milliseconds.
 */

/** The first one that the user has is proposed. @type {Factor[]} */
const ORDER = ["passkey", "totp", "recovery_code"];

/** @type {Record<Exclude<Factor, "passkey">, object>} */
const INPUTS = {
  totp: { autocomplete: "one-time-code", inputMode: "numeric", maxLength: 12 },
  recovery_code: { autocomplete: "off", class: "input mono" },
};

const ICONS = /** @type {const} */ ({ totp: "ShieldCheck", passkey: "KeyRound", recovery_code: "FileText" });

/** @param {string} code @returns {string} without the spaces between its digits */
const bare = (code) => code.replace(/\s/g, "");

/**
 * The second step of a sign-in: a code from an app, a passkey, or a recovery code (contract O2).
 *
 * @param {object} props
 * @param {Challenge} props.challenge
 * @param {string} props.name Who is signing in.
 * @param {string} props.note That the name is another one than was typed; empty if it is not.
 * @param {(key?: TextKey) => void} props.back to the first step, which says why
 */
export function SecondStep({ challenge, name, note, back }) {
  const factors = ORDER.filter((each) => challenge.factors.includes(each) && (each !== "passkey" || hasPasskeys));
  const [factor, setFactor] = useState(factors[0]);
  const attempt = useAttempt();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    const end = setTimeout(() => back("signIn.expired"), challenge.until - Date.now());
    return () => clearTimeout(end);
  }, []);
  useEffect(() => /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector("input, button"))?.focus(), [factor]);
  const send = async (/** @type {HTMLFormElement} */ filled) => {
    const code = String(new FormData(filled).get(factor ?? "") ?? "");
    const wrong = factor === "passkey" ? "signIn.passkey.wrong" : "signIn.code.wrong";
    const error = await attempt.run(async () => {
      const given = factor === "passkey" ? await chosen(challenge.passkey) : bare(code);
      await signIn({ grant_type: "second_factor", challenge: challenge.challenge, [factor ?? ""]: given });
    }, wrong);
    if (error) form.current?.querySelector("input")?.select();
  };
  const choose = (/** @type {Factor} */ other) => {
    attempt.clear();
    setFactor(other);
  };
  return h(Form, { element: form, noValidate: false, send },
    note && h("p", { class: "hint" }, note),
    h("p", null, t("signIn.second", { name })),
    factor === undefined && h("p", { class: "remark" }, t("signIn.passkey.not")),
    (factor === "totp" || factor === "recovery_code") &&
      h(Field, { key: factor, id: factor, label: t(`signIn.${factor}`), hint: t(`signIn.${factor}.hint`), attempt, "aria-invalid": attempt.problem.text !== "", ...INPUTS[factor] }),
    h(Refusal, { attempt }),
    factor && h(Submit, { attempt, words: t(factor === "passkey" ? "signIn.passkey.use" : "signIn.continue") }),
    h("div", { class: "stack tight" },
      factors.filter((each) => each !== factor).map((each) => h(Button, { key: each, tone: "plain wide", icon: ICONS[each], onClick: () => choose(each) }, t(`signIn.${each}.instead`))),
      h("button", { type: "button", class: "button quiet wide", onClick: () => back() }, t("signIn.back")),
    ),
  );
}

/** A code that an administrator prints, in place of password and factor (contract O6). @param {{name: string, isFixed: boolean, back: () => void}} props */
export function CodeStep({ name, isFixed, back }) {
  const attempt = useAttempt();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    const fields = [...(form.current?.querySelectorAll("input") ?? [])];
    (fields.find((field) => field.value === "") ?? fields[0])?.focus();
  }, []);
  const send = async (/** @type {HTMLFormElement} */ filled) => {
    const given = new FormData(filled);
    const code = String(given.get("code")).trim();
    const act = (/** @type {string} */ username) => signIn({ grant_type: "sign_in_code", username, code });
    const error = await attempt.run(() => withName(String(given.get("username")), act), "signIn.code.wrong");
    if (error) /** @type {HTMLInputElement | null | undefined} */ (form.current?.querySelector("[name=code]"))?.select();
  };
  return h(Form, { element: form, noValidate: false, send },
    h("p", null, rich("signIn.code.about", { command: h("code", { class: "mono" }, "logoadmin user code") })),
    h(Field, { id: "username", label: t("signIn.username"), attempt, autocomplete: "username", defaultValue: name, readOnly: isFixed }),
    h(Field, { id: "code", label: t("signIn.code"), attempt, class: "input mono", autocomplete: "one-time-code", "aria-invalid": attempt.problem.text !== "" }),
    h(Refusal, { attempt }),
    h(Submit, { attempt, words: t("signIn.submit") }),
    h("button", { type: "button", class: "button quiet wide", onClick: () => back() }, t("signIn.back")),
  );
}

/**
 * The button that leads to the issuer (contract O7).
 *
 * @param {object} props
 * @param {import("./attempt.js").Issuer} props.issuer
 * @param {boolean} props.isAgain Whether it opens a window of its own, so that nothing here is lost.
 * @param {boolean} props.isMain Whether it is the first way to sign in.
 * @param {import("./attempt.js").Attempt} props.attempt
 */
function IssuerButton({ issuer, isAgain, isMain, attempt }) {
  /** Made before the click, after which a browser lets no window open that comes later. */
  const prepared = useRef(/** @type {Awaited<ReturnType<typeof beginning>> | undefined} */ (undefined));
  const waiting = useRef(/** @type {AbortController | undefined} */ (undefined));
  const isSafe = globalThis.crypto.subtle !== undefined;
  const prepare = async () => void (prepared.current = await beginning(issuer, true));
  useEffect(() => {
    if (isAgain && isSafe && !issuer.failure) void prepare();
    return () => waiting.current?.abort();
  }, [issuer]);
  if (issuer.failure || !isSafe) return h("p", { class: "remark" }, t(isSafe ? "signIn.issuer.away" : "signIn.issuer.unsafe", { name: issuer.name }));
  if (asksAgain.value && !isOpenId(issuer)) return h("p", { class: "remark" }, t("signIn.issuer.never", { name: issuer.name }));
  const go = () => {
    if (!isAgain) return void attempt.run(() => goToIssuer(issuer), "signIn.issuer.failed");
    const begun = prepared.current;
    if (!begun || attempt.off) return undefined;
    // After the window is closed, a click opens another one.
    waiting.current?.abort();
    const { signal } = (waiting.current = new AbortController());
    return void attempt.wait(() => askIssuer(begun, signal), "signIn.issuer.failed").then(prepare);
  };
  return h("button", { type: "button", class: `button wide ${isMain ? "primary" : "plain"}`, "aria-disabled": attempt.off, onClick: go },
    h(Icon, { name: isAgain ? "ExternalLink" : "ShieldCheck" }),
    t("signIn.issuer", { name: issuer.name }),
  );
}

const { home, submit } = pageConfig.look;
/** The site that the gallery belongs to. */
const site = home || submit;
/** Else its page for visitors, if there is one. */
const back = site || PAGE?.href;

/** How visitors become members, and how they get back to where they came from (contract Q2, R5). @param {{tone: string}} props */
export function WayBack({ tone }) {
  if (!back) return null;
  return h("a", { class: `button ${tone}`, href: back, rel: "noreferrer" }, site ? t("signIn.site", { site: new URL(site).host }) : t("signIn.gallery"));
}

/** @param {{ways: import("./attempt.js").Ways}} props */
function Joining({ ways: { issuer } }) {
  return [
    submit && h("p", { key: "site", class: "hint" }, rich("signIn.join.site", { site: h("a", { href: submit, rel: "noreferrer" }, new URL(submit).host) })),
    issuer && h("p", { key: "issuer", class: "hint" }, t("signIn.join.issuer", { name: issuer.name })),
    !submit && !issuer && h("p", { key: "ask", class: "hint" }, t("signIn.join.ask")),
  ];
}

/** The second step of a sign-in: a code from an app, a passkey, or a recovery code (contract O2). */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { signIn } from "../../session.js";
import { t } from "../../texts.js";
import { Icon } from "../primitives/icon.js";
import { Field, Refusal, Submit, useAttempt } from "./attempt.js";
import { chosen, hasPasskeys } from "./passkey.js";

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

/** @param {string} code @returns {string} without the spaces between its digits */
const bare = (code) => code.replace(/\s/g, "");

/**
 * @param {object} props
 * @param {Challenge} props.challenge
 * @param {string} props.name Who is signing in.
 * @param {string} props.note That the name is another one than was typed; empty if it is not.
 * @param {(key?: import("../../texts.js").TextKey) => void} props.back to the first step, which says why
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
  /** @param {SubmitEvent} event */
  const send = async (event) => {
    event.preventDefault();
    const code = String(new FormData(/** @type {HTMLFormElement} */ (event.currentTarget)).get(factor ?? "") ?? "");
    const wrong = factor === "passkey" ? "signIn.passkey.wrong" : "signIn.code.wrong";
    const error = await attempt.run(async () => {
      const given = factor === "passkey" ? await chosen(challenge.passkey) : bare(code);
      await signIn({ grant_type: "second_factor", challenge: challenge.challenge, [factor ?? ""]: given });
    }, wrong);
    if (error) form.current?.querySelector("input")?.select();
  };
  return h("form", { ref: form, class: "form", onSubmit: send },
    note && h("p", { class: "hint" }, note),
    h("p", null, t("signIn.second", { name })),
    factor === undefined && h("p", { class: "remark" }, t("signIn.passkey.not")),
    (factor === "totp" || factor === "recovery_code") &&
      h(Field, { key: factor, id: factor, label: t(`signIn.${factor}`), hint: t(`signIn.${factor}.hint`), attempt, "aria-invalid": attempt.problem.text !== "", ...INPUTS[factor] }),
    h(Refusal, { attempt }),
    factor && h(Submit, { attempt, words: t(factor === "passkey" ? "signIn.passkey.use" : "signIn.continue") }),
    h("div", { class: "stack tight" },
      factors
        .filter((each) => each !== factor)
        .map((each) =>
          h(
            "button",
            {
              key: each,
              type: "button",
              class: "button plain wide",
              onClick: () => {
                attempt.clear();
                setFactor(each);
              },
            },
            h(Icon, { name: each === "totp" ? "ShieldCheck" : each === "passkey" ? "KeyRound" : "FileText" }),
            t(`signIn.${each}.instead`),
          ),
        ),
      h("button", { type: "button", class: "button quiet wide", onClick: () => back() }, t("signIn.back")),
    ),
  );
}

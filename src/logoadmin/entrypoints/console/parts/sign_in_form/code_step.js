/** A code that an administrator prints, in place of password and factor (contract O6). */
import { h, useEffect, useRef } from "../../vendor/preact.js";
import { signIn } from "../../session.js";
import { t } from "../../texts.js";
import { rich } from "../primitives/basics.js";
import { Field, Refusal, Submit, useAttempt } from "./attempt.js";
import { withName } from "./names.js";

/** @param {{name: string, isFixed: boolean, back: () => void}} props */
export function CodeStep({ name, isFixed, back }) {
  const attempt = useAttempt();
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    const fields = [...(form.current?.querySelectorAll("input") ?? [])];
    (fields.find((field) => field.value === "") ?? fields[0])?.focus();
  }, []);
  /** @param {SubmitEvent} event */
  const send = async (event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const code = String(given.get("code")).trim();
    const act = (/** @type {string} */ username) => signIn({ grant_type: "sign_in_code", username, code });
    const error = await attempt.run(() => withName(String(given.get("username")), act), "signIn.code.wrong");
    if (error) /** @type {HTMLInputElement | null | undefined} */ (form.current?.querySelector("[name=code]"))?.select();
  };
  return h("form", { ref: form, class: "form", onSubmit: send },
    h("p", null, rich("signIn.code.about", { command: h("code", { class: "mono" }, "logoadmin user code") })),
    h(Field, { id: "username", label: t("signIn.username"), attempt, autocomplete: "username", defaultValue: name, readOnly: isFixed }),
    h(Field, { id: "code", label: t("signIn.code"), attempt, class: "input mono", autocomplete: "one-time-code", "aria-invalid": attempt.problem.text !== "" }),
    h(Refusal, { attempt }),
    h(Submit, { attempt, words: t("signIn.submit") }),
    h("button", { type: "button", class: "button quiet wide", onClick: () => back() }, t("signIn.back")),
  );
}

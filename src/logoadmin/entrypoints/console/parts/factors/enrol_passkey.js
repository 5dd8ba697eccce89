/** Enrolling a passkey: the user gives it a name, and the browser asks for the rest. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { t, withoutMarks } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { About } from "../primitives/fields.js";
import { deviceOf } from "../people/device.js";
import { Failing, useAttempt } from "./attempt.js";
import { NotCreated, create, obstacle, reasonOf } from "./new_passkey.js";

const MOST = 64;

/** @param {{heading: "h2" | "h3", enrolled: import("./enrol_app.js").Enrolled, back: () => void}} props */
export function EnrolPasskey({ heading, enrolled, back }) {
  const id = useId();
  const { busy, failed, attempt } = useAttempt();
  const [name, setName] = useState(() => withoutMarks(deviceOf(navigator.userAgent)));
  const [problem, setProblem] = useState("");
  const [refusal, setRefusal] = useState("");
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => field.current?.focus(), []);
  const enrol = async () => {
    const { challenge, options } = (await call("post", "/api/auth/factors/passkeys/options", {})).data;
    const credential = await create(options);
    return call("post", "/api/auth/factors/passkeys", { body: { challenge, name: name.trim(), credential } });
  };
  const send = async (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const over = [...name.trim()].length - MOST;
    setRefusal("");
    if (busy) return;
    if (name.trim() === "" || over > 0) {
      setProblem(over > 0 ? t("problem.long", { n: MOST, over }) : t("problem.missing"));
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
  return h("form", { class: "form", noValidate: true, onSubmit: (/** @type {SubmitEvent} */ event) => void send(event) },
    h(heading, null, t("enrol.passkey")),
    h("p", null, t("enrol.passkey.text")),
    h("div", { class: "field" },
      h("label", { class: "label", for: id }, t("enrol.name")),
      h("input", {
        id,
        ref: field,
        class: "input",
        name: "name",
        dir: "auto",
        autocomplete: "off",
        value: name,
        "aria-invalid": Boolean(problem),
        "aria-describedby": `${id}-about`,
        onInput: (/** @type {InputEvent} */ event) => {
          setName(/** @type {HTMLInputElement} */ (event.currentTarget).value);
          setProblem("");
        },
      }),
      h(About, { id: `${id}-about`, problem, hint: t("enrol.name.hint") }),
    ),
    words ? h("p", { class: "complaint", role: "alert", dir: "auto" }, words) : failed && h(Failing, { failed, busy }),
    h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", busy, icon: "KeyRound" }, t("enrol.passkey.create")), h(Button, { onClick: back }, t("enrol.back"))),
  );
}

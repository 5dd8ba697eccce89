/** The first step of a sign-in: a password, a passkey, or the issuer, as far as the service and the browser have them. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { signIn } from "../../session.js";
import { t } from "../../texts.js";
import { rich } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";
import { Field, Refusal, Submit, useAttempt } from "./attempt.js";
import { IssuerButton } from "./issuer_button.js";
import { Joining } from "./joining.js";
import { hasPasskeys, offered, passkeyAlone } from "./passkey.js";
import { otherAddress } from "./ways.js";

/**
 * @param {object} props
 * @param {import("./ways.js").Ways} props.ways
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
  const [elsewhere] = useState(() => otherAddress(ways));
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
  /** @param {SubmitEvent} event */
  const submitted = async (event) => {
    event.preventDefault();
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
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
      h("form", { ref: form, class: "form", onSubmit: submitted },
        h(Field, { id: "username", label: t("signIn.username"), attempt, autocomplete: passkeys ? "username webauthn" : "username", defaultValue: name, readOnly: isAgain, onInput: attempt.clear }),
        h(Field, { id: "password", label: t("signIn.password"), attempt, type: "password", autocomplete: "current-password", autofocus: isAgain, "aria-invalid": attempt.problem.text !== "" }),
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

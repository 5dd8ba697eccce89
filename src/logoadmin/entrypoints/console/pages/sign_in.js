/** Signing in; and in place, where a session ended while somebody worked. */
import { h, useEffect, useRef, useState } from "../vendor/preact.js";
import { Failure } from "../client.js";
import { describe } from "../notices.js";
import { isAway, me, Refused, signIn, signOut } from "../session.js";
import { LANGUAGES, chooseLanguage, language, t } from "../texts.js";
import { Counted, useLeft } from "../parts/primitives/countdown.js";
import { TimedOut } from "../timed_fetch.js";
import { Dialog } from "../parts/primitives/dialog.js";

/** @typedef {{text: string, until: number}} Problem Until then, in milliseconds, it is too soon to try again; 0 for at once. */
const NONE = { text: "", until: 0 };

/** @param {unknown} error @returns {Problem} */
function problemOf(error) {
  if (!(error instanceof Refused)) return { text: t(error instanceof TimedOut ? "failure.late" : "failure.away"), until: 0 };
  const { status, seconds } = error;
  if (status >= 500 && status !== 503) return { text: describe(new Failure("fault", error.more)), until: 0 };
  if (status === 429 && seconds) return { text: tooOften(seconds), until: Date.now() + seconds * 1000 };
  return { text: t(status === 429 ? "failure.busy.moment" : status === 503 ? "failure.away" : "signIn.wrong"), until: 0 };
}

/** @param {number} left */
const tooOften = (left) => (left ? t("failure.wait", { n: left }) : t("failure.wait.over"));

/** @param {{username?: string, submit: string}} props */
function SignInForm({ username, submit }) {
  const [problem, setProblem] = useState(/** @type {Problem} */ (NONE));
  const left = useLeft(problem.until);
  const [busy, setBusy] = useState(false);
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  useEffect(() => {
    /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector("input:not([readonly])"))?.focus();
  }, []);
  /** @param {SubmitEvent} event */
  const send = async (event) => {
    event.preventDefault();
    if (busy || left > 0) return;
    const given = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    setBusy(true);
    setProblem(NONE);
    try {
      await signIn(String(given.get("username")), String(given.get("password")));
    } catch (error) {
      setProblem(problemOf(error));
      setBusy(false);
      /** @type {HTMLInputElement | null | undefined} */ (form.current?.querySelector("[name=password]"))?.select();
    }
  };
  return h(
    "form",
    { ref: form, class: "form", onSubmit: send },
    h(
      "div",
      { class: "field" },
      h("label", { class: "label", for: "username" }, t("signIn.username")),
      h("input", { class: "input", id: "username", name: "username", required: true, autocomplete: "username", spellcheck: false, autocapitalize: "none", defaultValue: username, readOnly: username !== undefined, onInput: () => setProblem(NONE) }),
    ),
    h(
      "div",
      { class: "field" },
      h("label", { class: "label", for: "password" }, t("signIn.password")),
      h("input", { class: "input", id: "password", name: "password", type: "password", required: true, autocomplete: "current-password", autofocus: username !== undefined, "aria-describedby": "refused", "aria-invalid": problem.text !== "" }),
    ),
    h("p", { id: "refused", class: "problem", role: "alert" }, h(Counted, { ...problem, left, words: tooOften })),
    h("button", { class: "button primary wide", "aria-disabled": busy || left > 0 }, t(busy ? "signIn.busy" : /** @type {any} */ (submit))),
  );
}

export function SignIn() {
  useEffect(() => {
    document.title = `${t("signIn.title")} · logoadmin`;
  }, [language.value]);
  return h(
    "main",
    { class: "sign-in" },
    h(
      "div",
      { class: "box sign-in-card" },
      h("div", { class: "brand large" }, h("span", { class: "brand-mark", "aria-hidden": true }), "logoadmin"),
      h("h1", null, t("signIn.title")),
      h("p", { class: isAway.value ? "remark" : "hidden", role: "status" }, isAway.value && t("signIn.away")),
      h(SignInForm, { submit: "signIn.submit" }),
    ),
    h(
      "p",
      { class: "languages" },
      Object.entries(LANGUAGES).map(([tag, name]) =>
        h("button", { key: tag, type: "button", lang: tag, class: "button quiet", "aria-pressed": language.value === tag, onClick: () => chooseLanguage(/** @type {any} */ (tag)) }, name),
      ),
    ),
  );
}

/** The password once more; what the person was doing waits behind it. */
export function SessionEnded() {
  return h(
    Dialog,
    { title: t("ended.title") },
    h("p", null, t("ended.text")),
    h(SignInForm, { username: me.value?.username ?? "", submit: "ended.submit" }),
    h("button", { type: "button", class: "button quiet wide", onClick: () => void signOut() }, t("ended.leave")),
  );
}

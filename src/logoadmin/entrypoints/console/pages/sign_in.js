/** Signing in; and in place, where a session ended or a request needs a recent sign-in. */
import { h, useEffect } from "../vendor/preact.js";
import { nameTab } from "../look.js";
import { path, siteLink } from "../router.js";
import { asksAgain, goOn, isAway, Refused, signOut, state } from "../session.js";
import { LANGUAGES, chooseLanguage, language, t } from "../texts.js";
import { Brand } from "../parts/primitives/brand.js";
import { Dialog } from "../parts/primitives/dialog.js";
import { issuerProblem } from "../parts/sign_in_form/issuer.js";
import { WayBack } from "../parts/sign_in_form/joining.js";
import { SigningIn } from "../parts/sign_in_form/signing_in.js";

export function SignIn() {
  useEffect(() => {
    nameTab(t("signIn.heading"));
  }, [language.value]);
  return h("main", { class: "sign-in" },
    h("div", { class: "box sign-in-card" },
      h(Brand, { large: true }),
      isOver() ? h(LinkOver, {}) : h(Form, {}),
    ),
    !isOver() && h(WayBack, { tone: "quiet" }),
    h("p", { class: "languages" },
      Object.entries(LANGUAGES).map(([tag, name]) =>
        h("button", { key: tag, type: "button", lang: tag, class: "button quiet", "aria-pressed": language.value === tag, onClick: () => chooseLanguage(/** @type {any} */ (tag)) }, name),
      ),
    ),
  );
}

/** Whether one came by a link that signs nobody in any more (contract R5). */
const isOver = () => siteLink && issuerProblem.value instanceof Refused && issuerProblem.value.status === 401;

const LinkOver = () => [
  h("h1", null, t("signIn.link.heading")),
  h("p", null, t("signIn.link.over")),
  h("div", { class: "stack" },
    h(WayBack, { tone: "primary wide" }),
    h("button", { type: "button", class: "button quiet wide", onClick: () => (issuerProblem.value = undefined) }, t("signIn.others")),
  ),
];

const Form = () => [
  h("h1", null, t("signIn.heading")),
  path.value === "submit" && h("p", null, t("signIn.submitting")),
  h("p", { class: isAway.value ? "remark" : "hidden", role: "status" }, isAway.value && t("signIn.away")),
  h(SigningIn, { submit: t("signIn.submit") }),
];

/** A sign-in once more; what the person was doing waits behind it. */
export function SignInAgain() {
  const isOver = state.value === "ended";
  return h(
    Dialog,
    isOver ? { title: t("ended.heading") } : { title: t("again.heading"), close: goOn },
    h("p", null, t(isOver ? "ended.text" : "again.text")),
    h(SigningIn, { submit: t("signIn.continue"), isAgain: true }),
    isOver
      ? h("button", { type: "button", class: "button quiet wide", onClick: () => void signOut() }, t("ended.leave"))
      : asksAgain.value && h("button", { type: "button", class: "button quiet wide", onClick: goOn }, t("cancel")),
  );
}

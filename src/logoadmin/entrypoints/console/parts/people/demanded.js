/** What must be done before anything else: to choose a password in place of the first one, or to enrol a second factor. */
import { h, useEffect, useRef } from "../../vendor/preact.js";
import { nameTab } from "../../look.js";
import { say } from "../../notices.js";
import { enrolling, me, mustEnrol, signOut, typed, whoAmI } from "../../session.js";
import { t, withTexts } from "../../texts.js";
import { lazy } from "../primitives/basics.js";
import { PasswordForm } from "./user_fields.js";

const Enrolment = lazy(withTexts(() => import("../factors/enrolment.js").then((module) => module.default), "factors"));

export function Demanded() {
  const user = me.value;
  // With the first password a session may do nothing else, so it comes before a factor.
  const isPassword = user?.must_change_password === true;
  const title = t(isPassword ? "first.title" : "mustEnrol.title");
  const card = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    nameTab(title);
  }, [title]);
  useEffect(() => {
    const first = card.current?.querySelector("input:not([hidden])") ?? card.current?.querySelector("h1");
    /** @type {HTMLElement | null | undefined} */ (first)?.focus();
  }, [isPassword]);
  useEffect(() => {
    enrolling.value = !isPassword;
    return () => void (enrolling.value = false);
  }, [isPassword]);
  if (!user) return null;
  const changed = () => {
    typed.password = "";
    me.value = { ...user, must_change_password: false };
    say(t("first.done"));
  };
  const enrolled = () => {
    mustEnrol.value = false;
    enrolling.value = false;
    void whoAmI().catch(() => undefined);
  };
  return h("main", { class: "sign-in" },
    h("div", { ref: card, class: "box sign-in-card wide" },
      h("h1", { tabIndex: -1 }, title),
      h("p", null, t(isPassword ? "first.text" : "mustEnrol.text")),
      isPassword ? h(PasswordForm, { user, own: true, current: typed.password, done: changed }) : h(Enrolment, { heading: "h2", done: enrolled }),
      h("button", { type: "button", class: "button quiet", onClick: () => void signOut() }, t("signOut")),
    ),
  );
}

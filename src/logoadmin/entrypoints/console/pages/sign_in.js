/** Signing in; and in place, where a session ended or a request needs a recent sign-in. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { nameTab } from "../look.js";
import { say } from "../notices.js";
import { Brand } from "../parts/primitives/basics.js";
import { Dialog } from "../parts/primitives/dialog.js";
import { readWays, USUAL, ways, withName } from "../parts/sign_in_form/attempt.js";
import { issuerProblem } from "../parts/sign_in_form/issuer.js";
import { CodeStep, FirstStep, SecondStep, WayBack } from "../parts/sign_in_form/steps.js";
import { path, siteLink } from "../router.js";
import { asksAgain, goOn, isAway, me, Refused, signIn, signOut, state, typed } from "../session.js";
import { chooseLanguage, language, LANGUAGES, t } from "../texts.js";

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
      ? h("button", { type: "button", class: "button quiet wide", onClick: () => void signOut() }, t("signOut"))
      : asksAgain.value && h("button", { type: "button", class: "button quiet wide", onClick: goOn }, t("cancel")),
  );
}

/** A challenge lives five minutes; it is given up a little earlier, so that nobody's last code is in vain. */
const CHALLENGE_LIFE = 295_000;
/** For so long a form waits to know which ways there are, in milliseconds: where a service is slow, a password will do. */
const SOON = 400;

/** The steps of a sign-in, on its page and in place. @param {{submit: string, isAgain?: boolean}} props `isAgain` where the same user has to sign in, in place. */
function SigningIn({ submit, isAgain = false }) {
  const [name, setName] = useState(isAgain ? (me.value?.username ?? "") : "");
  const [challenge, setChallenge] = useState(/** @type {import("../parts/sign_in_form/steps.js").Challenge | undefined} */ (undefined));
  const [note, setNote] = useState("");
  const [isOther, setOther] = useState(false);
  const [said, setSaid] = useState(/** @type {unknown} */ (isAgain ? undefined : issuerProblem.value));
  const [isLate, setLate] = useState(false);
  useEffect(() => {
    void readWays();
    // It is said once.
    issuerProblem.value = undefined;
    const late = setTimeout(() => setLate(true), SOON);
    return () => clearTimeout(late);
  }, []);
  const found = ways.value ?? (isLate ? USUAL : undefined);
  if (!found) return null;

  /** @param {{username: string, password: string}} given */
  const send = async ({ username, password }) => {
    let isNext = false;
    setNote("");
    await withName(username, async (each) => {
      try {
        await signIn({ username: each, password });
      } catch (error) {
        const answer = error instanceof Refused ? error.more.answer : {};
        if (!answer.challenge) throw error;
        setName(each);
        setChallenge({ ...answer, until: Date.now() + CHALLENGE_LIFE });
        isNext = true;
      }
    }, (words) => (isNext ? setNote(words) : say(words)));
    // The first password is to be changed at once: nobody has to type it twice.
    if (me.value?.must_change_password) typed.password = password;
  };
  /** @param {TextKey} [key] */
  const back = (key) => {
    setSaid(key && t(key));
    setChallenge(undefined);
    setOther(false);
  };
  const others = (/** @type {string} */ username) => {
    setName(username);
    setOther(true);
  };
  if (challenge) return h(SecondStep, { key: challenge.challenge, challenge, name, note, back });
  if (isOther) return h(CodeStep, { name, isFixed: isAgain, back });
  return h(FirstStep, { key: String(found.password), ways: found, name, isAgain, submit, said, send, others });
}

/** The steps of a sign-in, on its page and in place. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { say } from "../../notices.js";
import { me, Refused, signIn } from "../../session.js";
import { t } from "../../texts.js";
import { CodeStep } from "./code_step.js";
import { FirstStep } from "./first_step.js";
import { issuerProblem } from "./issuer.js";
import { withName } from "./names.js";
import { SecondStep } from "./second_step.js";
import { typed } from "./typed.js";
import { readWays, USUAL, ways } from "./ways.js";

/** A challenge lives five minutes; it is given up a little earlier, so that nobody's last code is in vain. */
const CHALLENGE_LIFE = 295_000;
/** For so long a form waits to know which ways there are, in milliseconds: where a service is slow, a password will do. */
const SOON = 400;

/** @param {{submit: string, isAgain?: boolean}} props `isAgain` where the same user has to sign in, in place. */
export function SigningIn({ submit, isAgain = false }) {
  const [name, setName] = useState(isAgain ? (me.value?.username ?? "") : "");
  const [challenge, setChallenge] = useState(/** @type {import("./second_step.js").Challenge | undefined} */ (undefined));
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
  /** @param {import("../../texts.js").TextKey} [key] */
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

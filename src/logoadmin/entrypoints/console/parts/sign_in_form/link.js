/** Coming in by a link of the host site (contract R5). */
import { say } from "../../notices.js";
import { Refused, hasSession, me, signIn, signInAs } from "../../session.js";
import { loadMoreTexts, t } from "../../texts.js";
import { ask } from "../primitives/dialog.js";
import { issuerProblem } from "./issuer.js";

/** Sign in, unless this tab has a session, which nobody else's link may replace unasked. @param {string} link */
export async function finish(link) {
  if (hasSession()) return;
  try {
    await signIn({ grant_type: "link", link });
  } catch (error) {
    issuerProblem.value = error;
  }
}

/** Ask the user who is signed in whether to go on as the member of the link. @param {string} link */
export async function offer(link) {
  const user = me.value;
  if (user && !(await ask({ title: t("link.title"), text: t("link.text", { name: user.username }), yes: t("link.yes"), no: t("link.no") }))) return;
  try {
    await signInAs({ grant_type: "link", link });
  } catch (error) {
    await loadMoreTexts("sign_in");
    const isOver = error instanceof Refused && error.status === 401;
    say(t(isOver ? "signIn.link.over" : "failure.away"), { tone: "failed" });
  }
}

/** Starts the slowest requests before anything is shown: the texts, the session, and a public list. */
import { loadTexts } from "./texts.js";
import { issuerAnswer, siteLink } from "./router.js";
import { place } from "./place.js";
import { hasSession, startSession } from "./session.js";
import { readAhead } from "./records.js";
import { startLook } from "./look.js";

startLook();
const { view, path } = place.value;
const first = /** @type {const} */ ({ logos: "logo", themes: "theme", authors: "author" });
const kind = first[/** @type {keyof typeof first} */ (path)];
if (!hasSession()) import("./pages/sign_in.js").catch(() => undefined);
else if (kind) void readAhead(kind);
view?.load().catch(() => undefined);

/** Until the texts and the session are loaded. */
export const started = Promise.all([loadTexts(!view?.isList && "others", !hasSession() && "sign_in"), arrived().then(startSession)]);

async function arrived() {
  if (siteLink) await (await import("./parts/sign_in_form/issuer.js")).finishLink(siteLink);
  if (issuerAnswer) await (await import("./parts/sign_in_form/issuer.js")).finish(issuerAnswer);
}

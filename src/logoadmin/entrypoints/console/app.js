/** The console itself, as soon as it is known who is signed in. */
import { h, render, effect } from "./vendor/preact.js";
import { siteLink, startRouter } from "./router.js";
import { hasSession, me } from "./session.js";
import { notices } from "./notices.js";
import { forgetRecords } from "./records.js";
import { shared } from "./look.js";
import { started } from "./start.js";
import { Shell } from "./parts/shell/shell.js";

const hadSession = hasSession();

// Not awaited here: what loads meanwhile may be in a chunk that imports this module.
void started.then(() => {
  startRouter();
  if (siteLink && hadSession) void import("./parts/sign_in_form/issuer.js").then(({ offer }) => offer(siteLink));
  let userId = me.value?.user_id;
  effect(() => {
    // Users may see different records.
    if (me.value?.user_id !== userId) {
      forgetRecords();
      shared.value = undefined;
      notices.value = [];
    }
    userId = me.value?.user_id;
  });
  render(h(Shell, {}), /** @type {HTMLElement} */ (document.getElementById("app")));
});

/** The account of the user: password, second factors, the sessions on all devices, keys for scripts, and events. */
import { h, useState } from "../vendor/preact.js";
import { say } from "../notices.js";
import { me, whoAmI } from "../session.js";
import { allWords } from "../scopes.js";
import { enumeration, t } from "../texts.js";
import { AvatarCard, PasswordForm } from "../parts/people/user_fields.js";
import { ViewHead } from "../parts/primitives/basics.js";
import { Railed } from "../parts/primitives/railed.js";
import { MyKeys } from "../parts/people/service_keys.js";
import { MySessions } from "../parts/people/sessions.js";
import { MyEvents } from "../parts/factors/events.js";
import { MyFactors } from "../parts/factors/factors.js";

export default function Account() {
  const user = me.value;
  const [changes, setChanges] = useState(0);
  if (!user) return null;
  const changed = () => setChanges(changes + 1);
  const done = () => {
    changed();
    say(t("password.done.own"));
  };
  return h("div", { class: "view narrow" },
    h(ViewHead, { title: t("account.title") }),
    h(Railed, null,
      h("section", { class: "section" },
        h("h2", { dir: "auto" }, user.username),
        !user.by_link && h("p", null, t(user.scope.length ? "account.may" : "account.may.nothing", { what: enumeration(allWords(user.scope)) })),
        h(AvatarCard, { user: { ...user, avatar: user.avatar ?? null }, changed: () => void whoAmI() }),
      ),
      // Those who come by links have nothing here that signs in: it would end their links.
      !user.by_link && user.can_step_up && [
        h("section", { key: "password", class: "section" }, h("h2", null, t("field.password")), h(PasswordForm, { user, own: true, done })),
        h("section", { key: "factors", class: "section" }, h("h2", null, t("factor.heading")), h(MyFactors, { changed })),
      ],
      !user.can_step_up && h("section", { class: "section" }, h("h2", null, t("factor.heading")), h("p", null, t("account.stepUp"))),
      h("section", { class: "section" }, h("h2", null, t("sessions.heading")), h(MySessions, { key: changes })),
      !user.by_link && [
        h("section", { key: "keys", class: "section" }, h("h2", null, t("keys.heading")), h(MyKeys, {})),
        h(MyEvents, { key: "events", userId: user.user_id, since: changes }),
      ],
    ),
  );
}

/** The user's own sessions, and how to end that of a lost device. */
import { h, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { navigate } from "../../router.js";
import { me, signOut } from "../../session.js";
import { t } from "../../texts.js";
import { Button, Skeleton, Time, Unread } from "../primitives/basics.js";
import { deviceOf } from "./device.js";
import { useRead } from "../primitives/use_read.js";
import { factorWords } from "../factors/known.js";

/** @typedef {import("logoadmin/api").components["schemas"]["ListedSession"]} Session */

/** When it was last known to be in use. @param {Session} session */
export const usedAt = (session) => session.refreshed_at ?? session.created_at;

/** Sign out, unless the user wants to keep unsaved changes. */
async function leave() {
  if (await navigate("")) await signOut();
}

/** @param {Session} session One that is over already does not keep the others from their end. */
async function endOne({ session_id: id }) {
  try {
    await call("delete", "/api/auth/sessions/{session_id}", { path: { session_id: id } });
  } catch (error) {
    if (!(error instanceof Failure) || error.kind !== "missing") throw error;
  }
}

/** Where and when somebody signed in, as it stands in a row. @param {{session: Session}} props */
export function SessionText({ session }) {
  return h("div", { class: "stack tight row-text" },
    h("p", { class: "row-name", title: session.user_agent ?? undefined },
      h("bdi", null, deviceOf(session.user_agent)),
      session.current && h("span", { class: "tag good" }, t("sessions.current")),
    ),
    h("p", { class: "hint" },
      t("sessions.used"),
      " ",
      h(Time, { seconds: usedAt(session) }),
      session.address && [" · ", h("bdi", null, t("sessions.from", { address: session.address }))],
      " · ",
      t("sessions.begun"),
      " ",
      h(Time, { seconds: session.created_at }),
      [factorWords(session.factor)].filter(Boolean).map((way) => ` · ${way}`),
    ),
  );
}

export function MySessions() {
  const { data, failure, again } = useRead(async (signal) => (await call("get", "/api/auth/sessions", { signal })).data);
  const [busy, setBusy] = useState("");
  if (!data) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});
  const sessions = data.toSorted((a, b) => Number(b.current) - Number(a.current) || usedAt(b) - usedAt(a));
  const others = sessions.filter(({ current }) => !current);

  /** @param {Session[]} ending @param {string} what */
  const end = async (ending, what) => {
    setBusy(what);
    try {
      for (const session of ending) await endOne(session);
      say(ending.length === 1 && ending[0] ? t("sessions.ended", { device: deviceOf(ending[0].user_agent) }) : t("sessions.ended.all"));
    } catch (error) {
      sayFailure(error, () => void end(ending, what));
    } finally {
      setBusy("");
      await again();
    }
  };
  return h("div", { class: "stack loose" },
    h("p", { class: "hint" }, t(me.value?.by_link ? "sessions.hint.byLink" : "sessions.hint")),
    h("ul", { class: "box divided rows" },
      sessions.map((session) =>
        h("li", { key: session.session_id, class: "spread row" },
          h(SessionText, { session }),
          session.current
            ? h(Button, { onClick: () => void leave() }, t("signOut"))
            : h(
                Button,
                { tone: "danger", busy: busy !== "", onClick: () => void end([session], session.session_id) },
                t("sessions.end"),
                h("span", { class: "hidden" }, `: ${deviceOf(session.user_agent)}`),
              ),
        ),
      ),
    ),
    others.length > 1 && h("div", null, h(Button, { tone: "danger", busy: busy !== "", onClick: () => void end(others, "all") }, t("sessions.endOthers"))),
  );
}

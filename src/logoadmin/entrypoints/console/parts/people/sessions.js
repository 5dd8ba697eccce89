/** The user's own sessions, and how to end that of a lost device. */
import { h, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { navigate } from "../../router.js";
import { may, me, signOut } from "../../session.js";
import { t } from "../../texts.js";
import { deviceOf, factorWords } from "../factors/events.js";
import { Button, Skeleton, Time, Unread, useRead } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";

/** @typedef {import("logoadmin/api").components["schemas"]["ListedSession"]} Session */

/** When it was last known to be in use. @param {Session} session */
const usedAt = (session) => session.refreshed_at ?? session.created_at;

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
function SessionText({ session }) {
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

const READ = "users:read";
const WRITE = "users:write";

/** The sessions of another user, and their end. @param {{user: {user_id: number, username: string}, reason: string | undefined}} props `reason` is why one may not change the user. */
export function UserSessions({ user, reason }) {
  const { user_id: id, username: name } = user;
  const isSeen = may(READ);
  const read = async (/** @type {AbortSignal} */ signal) => (isSeen ? (await call("get", "/api/users/{user_id}/sessions", { path: { user_id: id }, signal })).data : []);
  const { data: sessions, failure, again } = useRead(read, [user]);
  const [busy, setBusy] = useState(false);
  if (!sessions) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});

  /** @param {() => Promise<string>} end It returns what to say. */
  const run = async (end) => {
    setBusy(true);
    try {
      say(await end());
    } catch (error) {
      sayFailure(error, () => void run(end));
    } finally {
      setBusy(false);
      await again();
    }
  };
  const endOne = (/** @type {Session} */ { session_id: sessionId, user_agent: agent }) => run(async () => {
    try {
      await call("delete", "/api/users/{user_id}/sessions/{session_id}", { path: { user_id: id, session_id: sessionId } });
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== "missing") throw error; // it is over already
    }
    return t("sessions.ended", { device: deviceOf(agent) });
  });
  const endAll = async () => {
    if (!(await ask({ title: t("user.sessions.ask", { name }), text: t("user.sessions.text"), yes: t("user.sessions.end"), no: t("cancel"), tone: "danger" }))) return;
    await run(async () => t("user.sessions.ended", { n: (await call("delete", "/api/users/{user_id}/sessions", { path: { user_id: id } })).data.ended, name }));
  };
  if (isSeen && sessions.length === 0) return h("p", { class: "hint" }, t("user.sessions.none", { name }));
  return h("div", { class: "stack loose" },
    sessions.length > 0 &&
      h("ul", { class: "box divided rows", "aria-label": t("user.sessions") },
        sessions.toSorted((a, b) => usedAt(b) - usedAt(a)).map((session) =>
          h("li", { key: session.session_id, class: "spread row" },
            h(SessionText, { session }),
            h(Button, { tone: "danger", scope: WRITE, reason, busy, onClick: () => void endOne(session) }, t("sessions.end"), h("span", { class: "hidden" }, `: ${deviceOf(session.user_agent)}`)),
          ),
        ),
      ),
    (!isSeen || sessions.length > 1) && h("div", null, h(Button, { tone: "danger", scope: WRITE, reason, busy, onClick: () => void endAll() }, t("user.sessions.end"))),
  );
}

/** Sessions: one's own and those of others, with their ends. */
import { h } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say } from "../../notices.js";
import { leave, may, me } from "../../session.js";
import { t } from "../../texts.js";
import { deviceOf, factorWords } from "../factors/events.js";
import { Button, dotted, Pending, Time } from "../primitives/basics.js";
import { useRead, useRun } from "../primitives/hooks.js";
import { ask } from "../primitives/dialog.js";

/** @typedef {Schemas["ListedSession"]} Session */

/** When it was last known to be in use. @param {Session} session */
const usedAt = (session) => session.refreshed_at ?? session.created_at;

/** End a session, unless that is over already. @param {Promise<unknown>} ending */
const over = (ending) =>
  ending.catch((error) => {
    if (!(error instanceof Failure) || error.kind !== "missing") throw error;
  });

/** Where and when somebody signed in, as it stands in a row. @param {{session: Session}} props */
function SessionText({ session }) {
  return h("div", { class: "stack tight row-text" },
    h("p", { class: "row-name", title: session.user_agent ?? undefined },
      h("bdi", null, deviceOf(session.user_agent)),
      session.current && h("span", { class: "tag good" }, t("sessions.current")),
    ),
    h("p", { class: "hint" }, dotted(
      [t("sessions.used"), " ", h(Time, { seconds: usedAt(session) })],
      session.address && h("bdi", null, t("sessions.from", { address: session.address })),
      [t("sessions.begun"), " ", h(Time, { seconds: session.created_at })],
      factorWords(session.factor),
    )),
  );
}

/** Sessions, the latest first, and their ends. @param {{sessions: Session[], label?: string, isBusy: boolean, rights?: {scope: string, reason: string | undefined}, end: (session: Session) => void}} props `rights` to end those of others. */
const Rows = ({ sessions, label, isBusy, rights, end }) =>
  h("ul", { class: "box divided rows", "aria-label": label },
    sessions.toSorted((a, b) => Number(b.current) - Number(a.current) || usedAt(b) - usedAt(a)).map((session) =>
      h("li", { key: session.session_id, class: "spread row" },
        h(SessionText, { session }),
        session.current && !rights
          ? h(Button, { onClick: () => void leave() }, t("signOut"))
          : h(Button, { tone: "danger", ...rights, busy: isBusy, onClick: () => end(session) }, t("sessions.end"), h("span", { class: "hidden" }, `: ${deviceOf(session.user_agent)}`)),
      ),
    ),
  );

/** The user's own sessions, and how to end that of a lost device. */
export function MySessions() {
  const { data, failure, again } = useRead(async (signal) => (await call("get", "/api/auth/sessions", { signal })).data);
  const { busy, run } = useRun({ after: again });
  if (!data) return h(Pending, { failure, again });
  const others = data.filter(({ current }) => !current);
  /** @param {Session[]} ending @param {string} words */
  const end = (ending, words) =>
    void run(async () => {
      for (const { session_id: id } of ending) await over(call("delete", "/api/auth/sessions/{session_id}", { path: { session_id: id } }));
      say(words);
    });
  return h("div", { class: "stack loose" },
    h("p", { class: "hint" }, t(me.value?.by_link ? "sessions.hint.byLink" : "sessions.hint")),
    h(Rows, { sessions: data, isBusy: busy !== "", end: (session) => end([session], t("sessions.ended", { device: deviceOf(session.user_agent) })) }),
    others.length > 1 && h("div", null, h(Button, { tone: "danger", busy: busy !== "", onClick: () => end(others, t("sessions.ended.all")) }, t("sessions.endOthers"))),
  );
}

/** The sessions of another user, and their end. @param {{user: {user_id: number, username: string}, reason: string | undefined}} props `reason` is why one may not change the user. */
export function UserSessions({ user, reason }) {
  const { user_id: id, username: name } = user;
  const isSeen = may("users:read");
  const { data: sessions, failure, again } = useRead(async (signal) => (isSeen ? (await call("get", "/api/users/{user_id}/sessions", { path: { user_id: id }, signal })).data : []), [user]);
  const { busy, run } = useRun({ after: again });
  if (!sessions) return h(Pending, { failure, again });
  const rights = { scope: "users:write", reason };
  const end = (/** @type {Session} */ { session_id: sessionId, user_agent: agent }) =>
    void run(async () => {
      await over(call("delete", "/api/users/{user_id}/sessions/{session_id}", { path: { user_id: id, session_id: sessionId } }));
      say(t("sessions.ended", { device: deviceOf(agent) }));
    });
  const endAll = async () => {
    if (!(await ask({ title: t("user.sessions.ask", { name }), text: t("user.sessions.text"), yes: t("user.sessions.end"), no: t("cancel"), tone: "danger" }))) return;
    await run(async () => say(t("user.sessions.ended", { n: (await call("delete", "/api/users/{user_id}/sessions", { path: { user_id: id } })).data.ended, name })));
  };
  if (isSeen && sessions.length === 0) return h("p", { class: "hint" }, t("user.sessions.none", { name }));
  return h("div", { class: "stack loose" },
    sessions.length > 0 && h(Rows, { sessions, label: t("sessions.heading"), isBusy: busy !== "", rights, end }),
    (!isSeen || sessions.length > 1) && h("div", null, h(Button, { tone: "danger", ...rights, busy: busy !== "", onClick: () => void endAll() }, t("user.sessions.end"))),
  );
}

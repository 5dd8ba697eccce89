/** The sessions of another user, and their end. */
import { h, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say, sayFailure } from "../../notices.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Button, Skeleton, Unread } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";
import { useRead } from "../primitives/use_read.js";
import { deviceOf } from "./device.js";
import { SessionText, usedAt } from "./own_sessions.js";

/** @typedef {import("./own_sessions.js").Session} Session */
const READ = "users:read";
const WRITE = "users:write";

/** @param {{user: {user_id: number, username: string}, reason: string | undefined}} props `reason` is why one may not change the user. */
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

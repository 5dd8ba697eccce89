/** What happened to an account: sign-ins, refused ones, factors, keys and passwords (contract O9). */
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { sayFailure } from "../../notices.js";
import { t } from "../../texts.js";
import { Button, Skeleton, Time, Unread } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";
import { useRead } from "../primitives/use_read.js";
import { deviceOf } from "../people/device.js";
import { eventWords, factorWords } from "./known.js";

/** @typedef {import("logoadmin/api").components["schemas"]["SignInEvent"]} SignInEvent */

const PAGE = 8;
/** What somebody else may have done. */
const ALARMING = ["sign_in_refused", "sign_in_limited", "token_reused"];

/** The events of the account. @param {{userId: number, since: unknown}} props */
export function MyEvents(props) {
  return h("section", { class: "section" }, h("h2", null, t("events.own")), h("p", { class: "hint" }, t("events.advice")), h(Events, { ...props, label: t("events.own") }));
}

/** @param {{userId: number, label: string, since: unknown}} props Read again when `since` differs. */
export function Events({ userId, label, since }) {
  const { data, failure, again } = useRead((signal) => readPage(userId, undefined, signal), [userId, since]);
  const [older, setOlder] = useState(/** @type {{first: unknown, events: SignInEvent[], hasMore: boolean} | undefined} */ (undefined));
  const [busy, setBusy] = useState(false);
  if (!data) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});
  // Those that follow an older reading are not these.
  const shown = older?.first === data ? { events: [...data.events, ...older.events], hasMore: older.hasMore } : data;
  const more = async () => {
    setBusy(true);
    try {
      const page = await readPage(userId, shown.events.at(-1)?.event_id);
      setOlder({ first: data, events: [...shown.events.slice(data.events.length), ...page.events], hasMore: page.hasMore });
    } catch (error) {
      sayFailure(error, () => void more());
    } finally {
      setBusy(false);
    }
  };
  if (shown.events.length === 0) return h("p", { class: "hint" }, t("events.empty"));
  return h("div", { class: "stack loose" },
    h("ul", { class: "box divided rows", "aria-label": label }, shown.events.map((each) => h(Row, { key: each.event_id, its: each }))),
    shown.hasMore && h("div", null, h(Button, { busy, onClick: () => void more() }, t("list.more"))),
  );
}

/** @param {number} userId @param {number} [after] @param {AbortSignal} [signal] @returns {Promise<{events: SignInEvent[], hasMore: boolean}>} */
async function readPage(userId, after, signal) {
  const { data, next } = await call("get", "/api/auth/events", { query: { user_id: userId, limit: PAGE, ...(after && { after }) }, ...(signal && { signal }) });
  return { events: data, hasMore: next !== "" };
}

/** @param {{its: SignInEvent}} props */
function Row({ its }) {
  const way = factorWords(its.factor);
  return h("li", { class: "stack tight row" },
    h("p", { class: ALARMING.includes(its.event) ? "row-name alarming" : "row-name" },
      ALARMING.includes(its.event) && h(Icon, { name: "TriangleAlert" }),
      eventWords(its.event),
      its.count > 1 && h("span", { class: "tag" }, t("events.count", { n: its.count })),
    ),
    h("p", { class: "hint" },
      h(Time, { seconds: its.at }),
      its.by_user_name && [" · ", h("span", null, t("events.by", { name: its.by_user_name }))],
      way && ` · ${way}`,
      its.user_agent && [" · ", h("bdi", { title: its.user_agent }, deviceOf(its.user_agent))],
      its.address && [" · ", h("bdi", null, t("sessions.from", { address: its.address }))],
    ),
  );
}

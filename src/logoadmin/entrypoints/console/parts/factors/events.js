/** The events of an account: sign-ins, refused ones, factors, keys and passwords (contract O9). */
import { h } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { t } from "../../texts.js";
import { dotted, Icon, Skeleton, Time } from "../primitives/basics.js";
import { usePages } from "../primitives/pages.js";

const PAGE = 8;
/** Events that may be those of somebody else. */
const ALARMING = ["sign_in_refused", "sign_in_limited", "token_reused"];

/** The events of the account. @param {{userId: number, since: unknown}} props */
export function MyEvents(props) {
  return h("section", { class: "section" }, h("h2", null, t("events.own")), h("p", { class: "hint" }, t("events.advice")), h(Events, { ...props, label: t("events.own") }));
}

/** @param {{userId: number, label: string, since: unknown}} props Read again when `since` differs. */
export function Events({ userId, label, since }) {
  const { records, more, unread } = usePages(
    async (/** @type {Schemas["SignInEvent"] | undefined} */ last, signal) => call("get", "/api/auth/events", { query: { user_id: userId, limit: PAGE, ...(last && { after: last.event_id }) }, signal }),
    [userId, since],
  );
  if (!records) return unread ?? h(Skeleton, {});
  if (records.length === 0) return h("p", { class: "hint" }, t("record.history.none"));
  return h("div", { class: "stack loose" },
    h("ul", { class: "box divided rows", "aria-label": label }, records.map((each) => h(Row, { key: each.event_id, its: each }))),
    unread,
    more && h("div", null, more),
  );
}

/** @param {{its: Schemas["SignInEvent"]}} props */
function Row({ its }) {
  return h("li", { class: "stack tight row" },
    h("p", { class: ALARMING.includes(its.event) ? "row-name alarming" : "row-name" },
      ALARMING.includes(its.event) && h(Icon, { name: "TriangleAlert" }),
      t(/** @type {TextKey} */ (`event.${its.event}`)),
      its.count > 1 && h("span", { class: "tag" }, t("events.count", { n: its.count })),
    ),
    h("p", { class: "hint" }, dotted(
      h(Time, { seconds: its.at }),
      its.by_user_name && h("span", null, t("events.by", { name: its.by_user_name })),
      factorWords(its.factor),
      its.user_agent && h("bdi", { title: its.user_agent }, deviceOf(its.user_agent)),
      its.address && h("bdi", null, t("sessions.from", { address: its.address })),
    )),
  );
}

/** @param {string | null} factor @returns {string} what somebody signed in with; empty if that has no words */
export function factorWords(factor) {
  const key = `way.${factor}`;
  const text = t(/** @type {TextKey} */ (key));
  return text === key ? "" : text;
}

/** The first that fits: many call themselves by the names of others as well. @type {[RegExp, string][]} */
const BROWSERS = [
  [/\bEdgA?(iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bYaBrowser\//, "Yandex Browser"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
  [/^(python-requests|python-httpx|Python-urllib|aiohttp)\b/i, "Python"],
];
/** @type {[RegExp, string][]} */
const SYSTEMS = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** The name of a program, from its user agent. @param {string | null | undefined} userAgent @returns {string} such as "Firefox on Windows" */
export function deviceOf(userAgent) {
  const given = userAgent ?? "";
  const browser = BROWSERS.find(([pattern]) => pattern.test(given))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(given))?.[1];
  if (browser && system) return t("device.on", { browser, system });
  return browser ?? system ?? (given ? given.slice(0, 60) : t("device.unknown"));
}

/**
 * Which hosts the preview may contact: for pictures, those that are allowed for everybody and that of the record's own
 * picture, which is shown beside it anyway; for everything, those that the user allows by name.
 *
 * @typedef {import("./css_hosts.js").Contacts & {picture?: string | undefined}} Contacting `picture` is the origin of the
 *   record's picture.
 */
import { effect, h, signal } from "../../vendor/preact.js";
import { person, state } from "../../session.js";
import { enumeration, t } from "../../texts.js";
import { Button, rich } from "../primitives/basics.js";
import { OWN_HOSTS, isPictureHost } from "./picture_hosts.js";

/** The number of hosts named over the frame; all of them are listed below it. */
const NAMED = 3;

/** What can be named in the policy of the frame: as in `routes.py`, for browsers take no address of IPv6 there. */
const NAMEABLE = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

const STORED = "logoadmin.hosts";
/** @returns {string[]} what the user allowed in this tab; another user starts with none */
const stored = () => {
  const { user, origins } = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  return user === person() ? (origins ?? []) : [];
};
/** The origins that the user allowed for the session, whichever record they are looking at. */
export const allowed = signal(stored());
effect(() => {
  // The list is removed at sign-out; another user starts with an empty one.
  if (state.value === "out") sessionStorage.removeItem(STORED);
  allowed.value = stored();
});

/** @param {string[]} origins */
export function allow(origins) {
  sessionStorage.setItem(STORED, JSON.stringify({ user: person(), origins }));
  allowed.value = origins;
}

/** @param {string} origin @returns {boolean} whether a click could let the frame reach it */
export const isReachable = (origin) => NAMEABLE.test(origin);

/** @param {string} origin @param {Contacting} contacts @returns {boolean} whether pictures from there need no permission */
export const isShown = (origin, { picture }) => origin === picture || isPictureHost(origin);

/** @param {string} origin @param {Contacting} contacts @returns {boolean} whether its content needs no permission */
export function isLet(origin, contacts) {
  return isShown(origin, contacts) && !contacts.fonts.includes(origin) && !isSheet(origin, contacts.imports);
}

/** The origins of imports, found once: CSS can have thousands. @type {WeakMap<import("./css_hosts.js").Import[], Set<string>>} */
const sheets = new WeakMap();
/** @param {string} origin @param {import("./css_hosts.js").Import[]} imports */
function isSheet(origin, imports) {
  const found = sheets.get(imports) ?? new Set(imports.map(({ url }) => new URL(url).origin));
  sheets.set(imports, found);
  return found.has(origin);
}
/** Why there is nothing to choose. @param {string} origin */
const reason = (origin) => (!isReachable(origin) ? "hosts.never" : isPictureHost(origin) ? "hosts.allowed" : "hosts.shown");
/** Whether it helps to allow its pictures for everybody. @param {string} origin @param {Contacting} contacts */
const isShareable = (origin, contacts) => isReachable(origin) && !isShown(origin, contacts) && !contacts.fonts.includes(origin) && !isSheet(origin, contacts.imports);
/** @param {string} origin */
const hostOf = (origin) => new URL(origin).host;

/**
 * Over the frame: the hosts that are blocked so far, with buttons to allow them.
 *
 * @param {object} props
 * @param {string[]} props.held Origins.
 * @param {Contacting} props.contacts
 * @param {boolean} props.isEmpty Whether there is nothing else of the CSS to be seen.
 * @param {(origins: string[], isChoosing?: boolean) => void} props.decide Whom to let in, or whether to choose below.
 */
export function Held({ held, contacts, isEmpty, decide }) {
  const [first = ""] = held;
  const isNamed = held.length <= NAMED;
  const hosts = [...held.slice(0, NAMED).map(hostOf), ...(isNamed ? [] : [t("andMore", { n: held.length - NAMED })])];
  const sheets = held.filter((origin) => isSheet(origin, contacts.imports)).length;
  const fonts = held.filter((origin) => contacts.fonts.includes(origin)).length;
  const what = sheets === held.length ? "held.sheets" : sheets + fonts === 0 ? "held.pictures" : "held.parts";
  // Nobody is let by a click that does not name them.
  const reach = held.length === 1 ? t("hosts.reach", { host: hostOf(first) }) : t("held.all", { n: held.length });
  return h(
    "div",
    { class: isEmpty ? "box held whole" : "box held", role: "group", "aria-label": t("held") },
    h("p", { class: "held-words" }, rich(what, { hosts: h("strong", null, enumeration(hosts)) }, { n: held.length })),
    h(
      "div",
      { class: "cluster held-actions" },
      isNamed
        ? h("button", { type: "button", class: "button primary", onClick: () => decide(held) }, reach)
        : h("button", { type: "button", class: "button primary", onClick: () => decide([], true) }, t("held.choose")),
      h("button", { type: "button", class: "button plain", onClick: () => decide([]) }, t("held.without", { n: held.length })),
    ),
  );
}

/**
 * Every host that the CSS contacts.
 *
 * @param {object} props
 * @param {Contacting} props.contacts
 * @param {string[]} props.reached
 * @param {boolean} props.isAwaited Whether the service has not listed all of these yet.
 * @param {(origin: string) => void} props.toggle
 * @param {(host: string) => void} props.share Allows it for everybody.
 * @param {string | undefined} props.offered The origin whose button stands over the frame.
 */
export function Contacts({ contacts, reached, isAwaited, toggle, share, offered }) {
  const { imports, fonts, own } = contacts;
  // Pictures of the gallery itself are shown as long as the record's own picture is one.
  const origins = contacts.origins.filter((origin) => !(OWN_HOSTS.includes(hostOf(origin)) && isLet(origin, contacts)));
  if (!origins.length && !own) return h("p", { class: "hint" }, t("hosts.none"));
  return h(
    "div",
    { class: "box stack hosts", tabIndex: -1 },
    origins.length > 0 && h("p", { class: "label" }, t("hosts.title", { n: origins.length })),
    h(
      "ul",
      { class: "stack hosts-list" },
      origins.map((origin) =>
        h(
          "li",
          { key: origin, class: "spread host" },
          h(
            "span",
            { class: "host-name" },
            h("bdi", null, origin.replace(/^https:\/\//, "")),
            isSheet(origin, imports) && h("span", { class: "tag" }, t("hosts.imported")),
            fonts.includes(origin) && h("span", { class: "tag" }, t("hosts.font")),
          ),
          h(
            "div",
            { class: "cluster" },
            isLet(origin, contacts) || origin === offered || !isReachable(origin)
              ? h("span", { class: "hint" }, t(origin === offered ? "hosts.held" : reason(origin)))
              : [
                  reached.includes(origin) && h("span", { key: "is", class: "hint" }, t("hosts.reached")),
                  h(
                    "button",
                    { key: "button", type: "button", class: "button plain", "data-origin": origin, onClick: () => toggle(origin) },
                    t(reached.includes(origin) ? "hosts.stop" : "hosts.reach", { host: hostOf(origin) }),
                  ),
                ],
            isShareable(origin, contacts) && h(Button, { scope: "*", onClick: () => share(hostOf(origin)) }, t("hosts.always"), h("span", { class: "hidden" }, ` ${hostOf(origin)}`)),
          ),
        ),
      ),
    ),
    imports.length > 0 && h("p", { class: "hint" }, t("hosts.importHint")),
    own && h("p", { class: "hint" }, t("hosts.own")),
    isAwaited && h("p", { class: "hint", role: "status" }, t("hosts.awaited")),
  );
}

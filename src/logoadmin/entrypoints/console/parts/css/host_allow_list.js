/**
 * Which hosts the preview may contact: for pictures, those that are allowed for everybody and that of the record's own
 * picture, which is shown beside it anyway; for everything, those that the user allows by name.
 *
 * @typedef {import("./css_hosts.js").Contacts & {picture?: string | undefined}} Contacting `picture` is the origin of the
 *   record's picture.
 */
import { effect, h, signal } from "../../vendor/preact.js";
import { person, state } from "../../session.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { isPictureHost, OWN_HOSTS } from "../../shared_settings.js";

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
/** @param {string} origin @param {Contacting} contacts @param {readonly string[]} reached @returns {TextKey} whether it is contacted, and why */
function stateOf(origin, contacts, reached) {
  if (!isReachable(origin)) return "hosts.never";
  if (isLet(origin, contacts)) return isPictureHost(origin) ? "hosts.allowed" : "hosts.shown";
  return reached.includes(origin) ? "hosts.reached" : "hosts.held";
}

/** Whether it helps to allow its pictures for everybody. @param {string} origin @param {Contacting} contacts */
const isShareable = (origin, contacts) => isReachable(origin) && !isShown(origin, contacts) && !contacts.fonts.includes(origin) && !isSheet(origin, contacts.imports);
/** @param {string} origin */
const hostOf = (origin) => new URL(origin).host;

/**
 * Every host that the CSS contacts, and the ways to let the preview contact those that it does not.
 *
 * @param {object} props
 * @param {Contacting} props.contacts
 * @param {string[]} props.reached
 * @param {boolean} props.isAwaited Whether the service has not listed all of these yet.
 * @param {string[]} props.held Those that a click could let in.
 * @param {() => void} props.show Lets all of them in, which are named here, for the session.
 * @param {(hosts: string[]) => void} props.trust Allows them for everybody.
 */
export function Contacts({ contacts, reached, isAwaited, held, show, trust }) {
  const { imports, fonts, own } = contacts;
  // Pictures of the gallery itself are shown as long as the record's own picture is one.
  const origins = contacts.origins.filter((origin) => !(OWN_HOSTS.includes(hostOf(origin)) && isLet(origin, contacts)));
  const shareable = origins.filter((origin) => isShareable(origin, contacts)).map(hostOf);
  if (!origins.length && !own) return h("p", { class: "hint" }, t("hosts.none"));
  return h("div", { class: "box stack hosts", tabIndex: -1 },
    origins.length > 0 && h("p", { class: "label" }, t("hosts.title", { n: origins.length })),
    h("ul", { class: "stack hosts-list" },
      origins.map((origin) =>
        h("li", { key: origin, class: "spread host" },
          h("span", { class: "host-name" },
            h("bdi", null, origin.replace(/^https:\/\//, "")),
            isSheet(origin, imports) && h("span", { class: "tag" }, t("hosts.imported")),
            fonts.includes(origin) && h("span", { class: "tag" }, t("hosts.font")),
          ),
          h("span", { class: "hint" }, t(stateOf(origin, contacts, reached))),
        ),
      ),
    ),
    imports.length > 0 && h("p", { class: "hint" }, t("hosts.importHint")),
    own && h("p", { class: "hint" }, t("hosts.own")),
    isAwaited && h("p", { class: "hint", role: "status" }, t("hosts.awaited")),
    held.length + shareable.length > 0 &&
      h("div", { class: "cluster" },
        held.length > 0 && h(Button, { tone: "primary", icon: "Image", onClick: show }, t("hosts.show")),
        shareable.length > 0 && h(Button, { scope: "*", onClick: () => trust(shareable) }, t("hosts.always")),
      ),
  );
}

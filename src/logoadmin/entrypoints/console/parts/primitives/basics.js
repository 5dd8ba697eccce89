/** Small parts that every view is made of. */
import { h, useEffect, useId } from "../../vendor/preact.js";
import { relativeTime, exactTime, number, t } from "../../texts.js";
import { look, nameTab } from "../../look.js";
import { waiting } from "../../proposals.js";
import { address, focusHeading, visits } from "../../router.js";
import { may, whoAmI } from "../../session.js";
import { useFailure } from "./countdown.js";
import { Icon } from "./icon.js";
import { CopyReference } from "./reference.js";

/** @typedef {import("./icon.js").IconName} IconName */

/** Name the view in the tab and in its heading. @param {{title: string}} props */
export function Heading({ title }) {
  const waits = waiting();
  useEffect(() => {
    nameTab(`${waits ? `(${number(waits)}) ` : ""}${title}`);
    // Of two views beside each other, the second one names the tab.
  }, [title, waits, visits.value, look.value.title]);
  // A view that reads first has its heading later than the others.
  useEffect(focusHeading, []);
  return h("h1", { tabIndex: -1, dir: "auto" }, title);
}

/** @param {{title: string, children?: any}} props */
export const ViewHead = ({ title, children }) => h("header", { class: "spread view-head" }, h(Heading, { title }), h("div", { class: "cluster view-actions" }, children));

/** A time as people say it, with the exact one on hover and for what reads aloud. @param {{seconds: number}} props */
export function Time({ seconds }) {
  const exact = exactTime(seconds);
  return h("time", { dateTime: new Date(seconds * 1000).toISOString(), title: exact },
    relativeTime(seconds),
    h("span", { class: "hidden" }, `, ${exact}`),
  );
}

/**
 * A text with parts of the page in it.
 *
 * @param {import("../../texts.js").TextKey} key
 * @param {Record<string, any>} nodes What takes the place of `{name}`.
 * @param {Record<string, string | number>} [values] As in `t()`.
 */
export function rich(key, nodes, values = {}) {
  const parts = t(key, values).split(/\{(\w+)\}/);
  return parts.map((part, at) => (at % 2 ? (nodes[part] ?? part) : part));
}

/** A link to a view. @param {{to: string, class?: string, children?: any, [name: string]: any}} props */
export function Link({ to, children, ...others }) {
  return h("a", { ...others, href: address(to) }, children);
}

/**
 * @typedef {object} ButtonProps
 * @property {string | undefined} [scope]
 * @property {string | undefined} [reason] Why it cannot be done, where that is not the lack of a right.
 * @property {boolean} [busy] Whether it is at work: it shows that, and cannot be pressed again.
 * @property {boolean} [idle] Whether there is nothing to do for now.
 * @property {string} [tone]
 * @property {IconName | undefined} [icon] Before the words.
 * @property {string} [shortcut] The key that does the same.
 * @property {(event: MouseEvent) => void} [onClick]
 * @property {"submit" | "button"} [type]
 * @property {string | undefined} [id]
 * @property {string} [form] The id of the form that it submits, where it stands outside of it.
 * @property {"menuitem"} [role] In a menu, where the reason is written below it.
 * @property {boolean} [isPressed] Whether what it chooses is chosen.
 * @property {any} [key]
 * @property {any} [children]
 */

/** A button that is shown disabled, with the reason, where the signed-in user may not do what it does. @param {ButtonProps} props */
export function Button({ scope, reason, busy = false, idle = false, tone = "plain", icon, shortcut, onClick, type = "button", id: own, form, role, isPressed, children }) {
  const id = useId();
  const why = scope === undefined || may(scope) ? reason : t("needsScope", { scope });
  // Not `disabled`, which could not be reached by keyboard: then nobody would hear the reason.
  return h(
    "button",
    {
      id: own,
      type,
      class: `button ${tone}`,
      "aria-disabled": Boolean(why) || busy || idle,
      "aria-busy": busy || undefined,
      "aria-pressed": isPressed,
      form,
      role,
      tabIndex: role && -1,
      title: why || shortcut,
      "aria-keyshortcuts": shortcut,
      "aria-describedby": why ? id : undefined,
      onClick: (/** @type {MouseEvent} */ event) => {
        if (!why && !busy && !idle) return onClick?.(event);
        event.preventDefault();
        // Rights that were given meanwhile are known from then on.
        if (scope !== undefined && !may(scope)) void whoAmI().catch(() => undefined);
      },
    },
    icon && h(Icon, { name: icon }),
    children,
    why && h("span", { id, class: role && "hint", hidden: !role, "aria-hidden": true }, why),
  );
}

/** A small button without words. @param {{icon: IconName, label: string, onClick: (event: MouseEvent) => void, class?: string, tabIndex?: number, disabled?: boolean, "aria-disabled"?: boolean, "aria-keyshortcuts"?: string}} props */
export function IconButton({ icon, label, class: more = "", ...others }) {
  return h("button", { type: "button", class: `button quiet icon-button ${more}`, "aria-label": label, title: label, ...others }, h(Icon, { name: icon }));
}

/** A picture of a record from wherever it says, http and https alone. @param {string} url @returns {string | undefined} */
export function pictureUrl(url) {
  try {
    const found = new URL(url);
    return found.protocol === "http:" || found.protocol === "https:" ? found.href : undefined;
  } catch {
    return undefined;
  }
}

/** What a list says that has nothing to show, or a whole view. @param {{title: any, icon?: IconName, whole?: boolean, children?: any}} props */
export function EmptyState({ title, icon = "Inbox", whole = false, children }) {
  useEffect(() => {
    if (whole) nameTab(title);
  }, [title]);
  return h("div", { class: "empty" }, h(Icon, { name: icon }), h(whole ? "h1" : "p", { class: "empty-title", tabIndex: whole ? -1 : undefined }, title), children);
}

/** How to fill an empty list, for users with the scope. @param {{scope: string, children?: any}} props */
export function Begin({ scope, children }) {
  return may(scope) && [h("p", { key: "words" }, children), h(Link, { key: "way", to: "import", class: "button plain" }, h(Icon, { name: "Upload" }), t("move.title"))];
}

/** A list or record that could not be read, and the way on. @param {{failure: import("../../client.js").Failure, again: () => void}} props */
export function Unread({ failure, again }) {
  const { words, left } = useFailure(failure);
  useEffect(() => {
    if (failure.until && Date.now() >= failure.until) again();
  }, [left === 0, failure]);
  return h(
    EmptyState,
    { icon: failure.kind === "forbidden" ? "Lock" : "CircleAlert", title: failure.kind === "forbidden" ? t("unread.forbidden") : words },
    h("div", { class: "cluster" }, h(Button, { icon: "RefreshCw", idle: left > 0, onClick: again }, t("tryAgain")), h(CopyReference, { id: failure.reference })),
  );
}

/** Grey shapes where a list will be, shown only if it takes a while. */
export function Skeleton() {
  return h("div", { class: "skeleton", "aria-busy": true, role: "status" },
    h("p", { class: "hint" }, t("loading")),
    Array.from({ length: 6 }, (_, at) => h("div", { key: at, class: "skeleton-row" })),
  );
}

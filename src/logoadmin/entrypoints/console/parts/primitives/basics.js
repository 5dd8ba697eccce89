/** Small parts that every view is made of. */
import * as icons from "../../vendor/icons.js";
import { h, useEffect, useId, useState } from "../../vendor/preact.js";
import { look, nameTab } from "../../look.js";
import { busyWords, describe, wordsOfWait } from "../../notices.js";
import { waiting } from "../../proposals.js";
import { KINDS } from "../../records.js";
import { address, focusHeading, navigate, visits, withChoices } from "../../router.js";
import { may, whoAmI } from "../../session.js";
import { exactTime, number, relativeTime, t } from "../../texts.js";
import { useLeft, useLoaded } from "./hooks.js";

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
 * @param {TextKey} key
 * @param {Record<string, any>} nodes What takes the place of `{name}`.
 * @param {Record<string, string | number>} [values] As in `t()`.
 */
export function rich(key, nodes, values = {}) {
  const parts = t(key, values).split(/\{(\w+)\}/);
  return parts.map((part, at) => (at % 2 ? (nodes[part] ?? part) : part));
}

/** @param {any[]} parts @returns {any[]} those that there are, with dots between them */
export const dotted = (...parts) => parts.filter(Boolean).flatMap((part, at) => (at ? [" · ", part] : [part]));

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
 * @property {string | undefined} [tone]
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
      onClick: (event) => {
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

/** The attributes of a field, such as for names, that browsers neither complete nor correct. */
export const UNAIDED = { dir: "auto", spellcheck: false, autocomplete: "off" };

/** A form that is sent by its own code. @param {{send: (form: HTMLFormElement) => unknown, element?: {current: any}, class?: string, [name: string]: any}} props `element` gets it. */
export function Form({ send, element, class: look = "form", children, ...others }) {
  const submitted = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    // The form of a record, which may be around it, is not submitted.
    event.stopPropagation();
    void send(/** @type {HTMLFormElement} */ (event.currentTarget));
  };
  return h("form", { noValidate: true, ...others, ref: element, class: look, onSubmit: submitted }, children);
}

/** One of a few, side by side. @param {{label: string, choices: readonly (readonly any[])[], chosen: string, choose: (choice: any) => void, class?: string}} props Each choice has its words, and perhaps a title. */
export const Segmented = ({ label, choices, chosen, choose, class: more = "" }) =>
  h("div", { class: `segmented ${more}`, role: "group", "aria-label": label },
    choices.map(([each, words, title]) => h("button", { key: each, type: "button", title, "aria-pressed": each === chosen, onClick: () => choose(each) }, words)),
  );

/** A small button without words. @param {{icon: IconName, label: string, onClick: (event: MouseEvent) => void, class?: string, tabIndex?: number, disabled?: boolean, "aria-disabled"?: boolean, "aria-keyshortcuts"?: string}} props */
export function IconButton({ icon, label, class: more = "", ...others }) {
  return h("button", { type: "button", class: `button quiet icon-button ${more}`, "aria-label": label, title: label, ...others }, h(Icon, { name: icon }));
}

/** Move one of several up and down, and take it away. @param {{label: (what: "up" | "down" | "take") => string, at: number, count: number, move: (by: number) => void, take: () => void}} props */
export const OrderButtons = ({ label, at, count, move, take }) =>
  h("span", { class: "author-buttons" },
    h(IconButton, { icon: "ArrowUp", class: "up", disabled: at === 0, label: label("up"), onClick: () => move(-1) }),
    h(IconButton, { icon: "ArrowDown", class: "down", disabled: at === count - 1, label: label("down"), onClick: () => move(1) }),
    h(IconButton, { icon: "X", class: "take", label: label("take"), onClick: take }),
  );

/** A picture of a record from wherever it says, http and https alone. @param {string} url @returns {string | undefined} */
export function pictureUrl(url) {
  try {
    const found = new URL(url);
    return found.protocol === "http:" || found.protocol === "https:" ? found.href : undefined;
  } catch {
    return undefined;
  }
}

/** The message of a list or a view that has nothing to show. @param {{title: any, icon?: IconName, whole?: boolean, children?: any}} props */
export function EmptyState({ title, icon = "Inbox", whole = false, children }) {
  useEffect(() => {
    if (whole) nameTab(title);
  }, [title]);
  return h("div", { class: "empty" }, h(Icon, { name: icon }), h(whole ? "h1" : "p", { class: "empty-title", tabIndex: whole ? -1 : undefined }, title), children);
}

/** The way to a new record, from its list. @param {{kind: KindName}} props */
export const NewRecord = ({ kind }) => h(Button, { tone: "primary", icon: "Plus", scope: KINDS[kind].write, onClick: () => void navigate(`${kind}s/new`) }, t(`${kind}s.new`));

/** A list that shows none: `clear` shows all where filters leave none; else users with the right can fill it. @param {{kind: KindName, icon: IconName, clear?: (() => void) | undefined}} props */
export function NoRecords({ kind, icon, clear }) {
  if (clear) return h(EmptyState, { icon: "SearchX", title: t("none.found") }, h("p", null, t("filter.none")), h(Button, { onClick: clear }, t("filter.clear")));
  const begin = () => [h("p", { key: "words" }, t("none.begin")), h(Link, { key: "way", to: "import", class: "button plain" }, h(Icon, { name: "Upload" }), t("move.title"))];
  return h(EmptyState, { icon, title: t(`${kind}s.none`) }, may(KINDS[kind].write) && begin());
}

/** A list or record that could not be read, and the way on. @param {{failure: Failure, again: () => void}} props */
export function Unread({ failure, again }) {
  const { words, left } = useFailure(failure);
  useEffect(() => {
    if (failure.until && Date.now() >= failure.until) again();
  }, [left === 0, failure]);
  if (failure.kind === "missing") return h(EmptyState, { icon: "SearchX", title: t("gone.never") });
  const isForbidden = failure.kind === "forbidden";
  return h(EmptyState, { icon: isForbidden ? "Lock" : "CircleAlert", title: isForbidden ? t("unread.forbidden") : words },
    h("div", { class: "cluster" }, h(Button, { icon: "RefreshCw", idle: left > 0, onClick: again }, t("tryAgain")), h(CopyReference, { id: failure.reference })),
  );
}

/** The placeholder for something that is being read, or cannot be. @param {{failure: Failure | undefined, again: () => unknown}} props */
export const Pending = ({ failure, again }) => (failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {}));

/** Grey shapes where a list will be, shown only if it takes a while. */
export function Skeleton() {
  return h("div", { class: "skeleton", "aria-busy": true, role: "status" },
    h("p", { class: "hint" }, t("loading")),
    Array.from({ length: 6 }, (_, at) => h("div", { key: at, class: "skeleton-row" })),
  );
}

/** @typedef {keyof typeof icons} IconName */

/** Icons of Lucide (lucide.dev), drawn in the colour of the text around them; `vendor/icons.d.ts` names those there are. @param {{name: IconName}} props Screen readers skip it, so it needs words beside it or a label around it. */
export function Icon({ name }) {
  const parts = icons[name].map(([tag, attributes], at) => h(tag, { key: at, ...attributes }));
  return h("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": true }, parts);
}

/** A band above a form: a state of the record, what to do about it, and the buttons that do it. @param {{title: any, icon?: IconName, tone?: "warning" | "danger", role?: "status" | "alert", actions?: any, children?: any}} props */
export const Band = ({ title, icon = "TriangleAlert", tone = "warning", role = "status", actions, children }) =>
  h("section", { class: `band band-${tone}`, role },
    h(Icon, { name: icon }),
    h("div", { class: "stack tight band-words" }, h("p", { class: "band-title", dir: "auto" }, title), children),
    actions && h("div", { class: "cluster band-actions" }, actions),
  );

/** Whose gallery this is: its mark and its title. @param {{large?: boolean, key?: any}} props */
export function Brand({ large = false }) {
  const { title, mark } = look.value;
  // An undo may bring back the setting, but not a picture that was removed.
  const [missing, setMissing] = useState("");
  return h("span", { class: large ? "brand large" : "brand" },
    mark && mark !== missing ? h("img", { key: mark, class: "brand-mark", src: mark, alt: "", onError: () => setMissing(mark) }) : h("span", { class: "brand-mark brand-dot" }),
    h("bdi", { class: "brand-title" }, title),
  );
}

/** Where a view stands: the list that it belongs to, as the user last saw it, and its own name. @param {{list: string, title: string, name: string}} props `list` is the path of the list, `title` its name. */
export function Breadcrumbs({ list, title, name }) {
  return h("nav", { class: "breadcrumbs", "aria-label": t("breadcrumbs") },
    h("ol", null, h("li", null, h(Link, { to: withChoices(list) }, title)), h("li", { "aria-current": "page", dir: "auto" }, name)),
  );
}

/** Put a text into the clipboard of the system. @param {string} text */
async function toClipboard(text) {
  // There only where the page came by TLS or from this machine.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  return undefined;
}

/** A button that copies a text. @param {{text: string, tone?: string, children?: any}} props */
export function Copy({ text, tone, children = t("copy") }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    await toClipboard(text);
    setDone(text);
  };
  const isDone = done === text;
  return h(Button, { tone, icon: isDone ? "Check" : "Copy", onClick: () => void copy() }, h("span", { "aria-live": "polite" }, isDone ? t("copied") : children));
}

/** Copies the id of a request that failed, which the administrator finds in the log; nothing for an empty one. @param {{id: string}} props */
export const CopyReference = ({ id }) => id && h(Copy, { text: id, tone: "quiet" }, t("reference.copy"));

/**
 * @param {object} props
 * @param {string} props.text The words at the beginning.
 * @param {number} props.until In milliseconds; 0 where nothing is counted.
 * @param {number} props.left How many seconds are left.
 * @param {((left: number) => string) | undefined} [props.words] The text with this number of seconds left, and with
 * none.
 */
export function Counted({ text, until, left: seconds, words = busyWords }) {
  if (until === 0) return text;
  if (seconds === 0) return words(0);
  return [h("span", { key: "seen", "aria-hidden": true }, words(seconds)), h("span", { key: "heard", class: "hidden" }, text)];
}

/** Why something could not be done, where it may be tried again. @param {Failure} failure @returns {{words: any, left: number}} with the seconds until then */
export function useFailure(failure) {
  const { until } = failure;
  const left = useLeft(until);
  return { words: h(Counted, { text: describe(failure), until, left, words: wordsOfWait(failure) }), left };
}

/** @param {() => Promise<(props: any) => any>} load @param {() => any} [meanwhile] The placeholder while it loads. @returns {(props: any) => any} a component in its place */
export function lazy(load, meanwhile) {
  return (props) => {
    const { found, problem } = useLoaded(load);
    if (problem) return h(LoadError, { problem });
    return found ? h(found.is, props) : (meanwhile?.() ?? null);
  };
}

/** What cannot be loaded: without a connection, or because the service has another version of the console by now. @param {{problem: "waits" | "missing"}} props */
export function LoadError({ problem }) {
  return problem === "waits"
    ? h(EmptyState, { icon: "WifiOff", whole: true, title: t("unloaded.title") }, h("p", null, t("unloaded.text")))
    : h(EmptyState, { icon: "CircleAlert", whole: true, title: t("renewed.title") }, h(Button, { icon: "RefreshCw", onClick: () => location.reload() }, t("renewed.reload")));
}

/** What happened, newest first; filtered by what stands in the address, and undone. */
import { h, useEffect, useId, useMemo, useRef, useState } from "../vendor/preact.js";
import { call } from "../client.js";
import { ChangeList, Item, UndoAct } from "../parts/history/change_list.js";
import { ACTIONS, PAGE, readAct, readChange, readLatest, readPage } from "../parts/history/changes.js";
import { Breadcrumbs, EmptyState, IconButton, Pending, UNAIDED, Unread, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRead, useRested } from "../parts/primitives/hooks.js";
import { ReadOn } from "../parts/primitives/pages.js";
import { day, language, t } from "../texts.js";
import { query, setQuery } from "../router.js";
import { may } from "../session.js";
import { Pick } from "../parts/lists/toolbar.js";
import { words } from "../parts/primitives/fields.js";
import { actor } from "../parts/history/words.js";

/** @typedef {import("../parts/history/changes.js").Entry} Entry */
/** @typedef {import("../parts/history/changes.js").Page} Page */

/** The most entries that are read again at once. */
const MOST = 1000;

/** The pages that were read so far, one below the other. @param {import("../parts/history/changes.js").Filters} filters */
function usePages(filters) {
  const key = JSON.stringify(filters);
  const [busy, setBusy] = useState(false);
  const last = useRef(/** @type {(Page & {key: string}) | undefined} */ (undefined));
  const known = last.current?.key === key ? last.current : undefined;
  // Read the changes that follow `after`; without it, the whole list again.
  const { data, failure, again: load } = useRead(async (signal, after = 0) => {
    setBusy(true);
    try {
      const page = await readPage(filters, after, { signal, ...(!after && known && { size: Math.min(Math.max(PAGE, known.entries.length), MOST) }) });
      return (last.current = { ...page, entries: after && known ? [...known.entries, ...page.entries] : page.entries, key });
    } finally {
      if (!signal.aborted) setBusy(false);
    }
  }, [key]);
  return { entries: known?.entries ?? (failure ? undefined : data?.entries), isStale: !known, after: known?.after ?? 0, failure, busy, load };
}

/** @param {{params: Record<string, string>}} props */
export default ({ params }) => (params.change_id ? h(ChangePage, { params }) : h(History, {}));

function History() {
  const filters = chosenFilters();
  const { entries, isStale, after, failure, busy, load } = usePages(filters);
  useLists("author", "role", "user");
  const again = () => void load();
  const act = useAct(filters.request_id === undefined ? undefined : String(filters.request_id), entries);
  return h("div", { class: "view" },
    h(ViewHead, { title: t("history.title") }, act && h(UndoAct, { act, undone: again })),
    h(HistoryFilters, { entries: entries ?? [] }),
    !entries && h(Pending, { failure, again }),
    entries?.length === 0 && !isStale && h(Nothing, {}),
    entries && entries.length > 0 && h("div", { class: isStale ? "stale" : "", "aria-busy": isStale }, h(ChangeList, { entries, undone: again, label: t("history.title"), days: true, act })),
    failure && entries && h(Unread, { failure, again: () => void load(after) }),
    after > 0 && !isStale && !failure && h(ReadOn, { key: after, busy, more: () => void load(after) }, t(busy ? "loading" : "history.older")),
  );
}

/** @param {string | undefined} request @param {Entry[] | undefined} entries Read again with these. @returns {Act | undefined} what it did */
function useAct(request, entries) {
  const { data: act } = useRead(async (signal) => (request && entries ? readAct(request, signal) : undefined), [request, entries]);
  return act?.request_id === request ? act : undefined;
}

function Nothing() {
  return isFiltered() ? h(EmptyState, { icon: "SearchX", title: t("none.found") }, h("p", null, t("history.none.try"))) : h(EmptyState, { icon: "History", title: t("history.none") });
}

/** One change: what it did, and undoing it. @param {{params: Record<string, string>}} props */
function ChangePage({ params }) {
  const changeId = Number(params.change_id);
  const { data: read, failure, again } = useRead(async (signal) => {
    const change = changeId > 0 ? await readChange(changeId, signal) : undefined;
    const known = change ? await readLatest(change, signal) : [];
    // One of many, if it came with a request for many.
    const whole = change?.origin && change.request_id ? ((await readAct(change.request_id, signal))?.count ?? 1) : 1;
    return { change, known, whole };
  }, [changeId]);
  useLists("author", "role");
  const title = t("history.change", { id: String(changeId) });
  if (!read) return h(Pending, { failure, again });
  return h("div", { class: "view" },
    h(Breadcrumbs, { list: "history", title: t("history.title"), name: title }),
    h(ViewHead, { title }),
    read.change
      ? h("div", { class: "box divided changes" }, h("div", { class: "change" }, h(Item, { change: read.change, known: read.known, undone: () => void again(), isOpen: true, whole: read.whole })))
      : h(EmptyState, { icon: "SearchX", title: t("history.missing") }),
  );
}

/** The delay between a keystroke and the search for a person, in milliseconds. */
const REST = 120;
const NAMES = /** @type {const} */ (["kind", "id", "who", "action", "since", "until", "request"]);

/** @param {string} name @returns {number | undefined} */
const numeric = (name) => (/^\d{1,10}$/.test(query(name)) ? Number(query(name)) : undefined);

/** @param {string} date as `2026-11-22`, a day here @param {number} [later] @returns {number | undefined} when it begins, or a later day, in Unix time; undefined unless it is a date from 1970 on */
function beginning(date, later = 0) {
  const [year = NaN, month = NaN, number = NaN] = date.split("-").map(Number);
  const at = new Date(year, month - 1, number + later).getTime();
  return at >= 0 ? Math.floor(at / 1000) : undefined;
}

/** @returns {import("../parts/history/changes.js").Filters} what the address asks for */
function chosenFilters() {
  const kind = Object.hasOwn(ACTIONS, query("kind")) ? query("kind") : undefined;
  const afterwards = beginning(query("until"), 1);
  return {
    kind,
    id: kind ? numeric("id") : undefined,
    user_id: numeric("who"),
    action: query("action") || undefined,
    request_id: query("request") || undefined,
    since: beginning(query("since")),
    // To the end of that day, which may have an hour more or less.
    until: afterwards && afterwards - 1,
  };
}

/** @returns {boolean} whether the address has a filter */
const isFiltered = () => Object.values(chosenFilters()).some((value) => value !== undefined);

const kinds = /** @type {(keyof typeof ACTIONS)[]} */ (Object.keys(ACTIONS));
/** @param {keyof typeof ACTIONS} kind @returns {string} the name of its records */
const titleOf = (kind) => t(kind === "settings" ? "settings.title" : kind === "picture" ? "settings.pictures" : `${kind}s.title`);

/** @param {{entries: import("../parts/history/changes.js").Entry[]}} props The changes, which name people to readers who may not look them up. */
function HistoryFilters({ entries }) {
  const isKind = Object.hasOwn(ACTIONS, query("kind"));
  return h("div", { class: "filters", role: "search", "aria-label": t("filters") },
    h(Kind, {}),
    h(Action, {}),
    h(Who, { entries }),
    h(Day, { name: "since", label: t("history.from") }),
    h(Day, { name: "until", label: t("history.until") }),
    isKind && h(RecordNumber, {}),
    query("request") && h(Chip, { text: t("history.request", { id: query("request") }), clear: () => setQuery({ request: "" }) }),
    isFiltered() && h("button", { type: "button", class: "button quiet", onClick: clear }, t("history.clear")),
  );
}

function Kind() {
  /** @type {[string, string][]} */
  const choices = [["", t("history.kind.all")], ...kinds.map((each) => /** @type {[string, string]} */ ([each, titleOf(each)]))];
  return h("div", { class: "filter" }, h(Pick, { label: t("history.kind"), value: query("kind"), choices, pick: (kind) => setQuery({ kind, id: "", action: "" }) }));
}

function Action() {
  const shown = kinds.filter((each) => !Object.hasOwn(ACTIONS, query("kind")) || each === query("kind"));
  /** @type {[string, string | [string, string][]][]} */
  const groups = shown.map((kind) => [titleOf(kind), ACTIONS[kind].map((action) => [`${kind}.${action}`, t(`action.${action}`)])]);
  return h("div", { class: "filter" }, h(Pick, { label: t("history.action"), value: query("action"), choices: [["", t("history.kind.all")], ...groups], pick: (action) => setQuery({ action }) }));
}

function RecordNumber() {
  const id = useId();
  const choose = (/** @type {Event} */ event) => setQuery({ id: valueOf(event).replace(/\D/g, "") });
  return h(Filter, { id, label: t("field.id") },
    h("input", { id, class: "input", inputMode: "numeric", autocomplete: "off", maxLength: 10, value: query("id"), onInput: choose }),
  );
}

function clear() {
  setQuery(Object.fromEntries(NAMES.map((name) => [name, ""])));
  // The clicked button has disappeared.
  /** @type {HTMLElement | null} */ (document.querySelector(".filters select"))?.focus();
}

/** @param {Event} event */
const valueOf = (event) => /** @type {HTMLInputElement} */ (event.currentTarget).value;

/** @param {{id: string, label: string, children?: any}} props */
function Filter({ id, label, children }) {
  return h("div", { class: "filter" }, h("label", { class: "label", for: id }, label), children);
}

/** @param {{text: string, clear: () => void}} props */
function Chip({ text, clear: remove }) {
  return h("span", { class: "chip" }, h("span", { class: "chip-text" }, text), h(IconButton, { icon: "X", label: t("history.drop", { what: text }), onClick: remove }));
}

/** The person, found by a part of the name; readers who may not look up users find those in the history. @param {{entries: import("../parts/history/changes.js").Entry[]}} props */
function Who({ entries }) {
  const who = query("who");
  const id = useId();
  const list = useId();
  const [typed, setTyped] = useState("");
  const isAllowed = may("users:read");
  const seen = useMemo(() => peopleIn(entries), [entries]);
  const q = useRested(typed, REST);
  const { data: found } = useRead(async (signal) => (isAllowed && q ? (await call("get", "/api/users", { query: { q, limit: 20 }, signal })).data : []), [q]);
  const offered = isAllowed ? (found ?? []) : seen;
  /** @param {string} text */
  const choose = (text) => {
    setTyped(text);
    const named = offered.find((user) => user.username === text);
    if (named) setQuery({ who: String(named.user_id) });
    else if (text === "") setQuery({ who: "" });
  };
  useEffect(() => {
    // A name that was typed completely before the response arrived.
    if (typed) choose(typed);
  }, [found]);
  // However the filter was removed: a name left here would be chosen again when people are loaded again.
  useEffect(() => void (who || setTyped("")), [who]);
  if (who) return h(Chip, { text: t("history.by", { name: nameAmong(entries, Number(who)) || typed || t("who.number", { id: who }) }), clear: () => setQuery({ who: "" }) });
  return h(Filter, { id, label: t("user.title") },
    h("input", {
      id,
      class: "input",
      list,
      ...UNAIDED,
      maxLength: 64,
      value: typed,
      placeholder: words("username", "label"),
      onInput: (event) => choose(valueOf(event)),
    }),
    h("datalist", { id: list }, offered.map((user) => h("option", { key: user.user_id, value: user.username }))),
  );
}

/** @param {import("../parts/history/changes.js").Entry[]} entries @returns {{user_id: number, username: string}[]} the people who made the changes */
function peopleIn(entries) {
  /** @type {Map<number, string>} */
  const people = new Map();
  const done = entries.map(({ act, change }) => /** @type {{user_id: number | null, user_name?: string | null}} */ (act ?? change));
  for (const { user_id: userId, user_name: username } of done) if (userId !== null && username) people.set(userId, username);
  return [...people].map(([userId, username]) => ({ user_id: userId, username }));
}

/** @param {import("../parts/history/changes.js").Entry[]} entries @param {number} userId @returns {string | undefined} the name, if that user made one of the changes */
function nameAmong(entries, userId) {
  const found = entries.map(({ act, change }) => act ?? change).find((each) => each?.user_id === userId);
  return found && actor(found);
}

const MONTHS = Array.from({ length: 12 }, (_, at) => at);

/** A date, written and read in the language of the console: a date field of the browser uses that of the browser. @param {{name: "since" | "until", label: string}} props */
function Day({ name, label }) {
  const id = useId();
  const value = query(name);
  const choose = (/** @type {string} */ date) => setQuery({ [name]: date });
  const [wrong, setWrong] = useState("");
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => setWrong(""), [value]);
  const read = (/** @type {HTMLInputElement} */ field) => {
    const text = field.value.trim();
    const date = text && dateOf(text);
    setWrong(date === undefined ? text : "");
    if (date === undefined) return;
    field.value = written(date);
    choose(date);
  };
  return h(Filter, { id, label }, h("div", { class: "date-field" },
    h("input", {
      id,
      class: "input",
      ...UNAIDED,
      maxLength: 64,
      placeholder: t("history.kind.all"),
      value: wrong || written(value),
      "aria-invalid": wrong !== "",
      "aria-describedby": wrong ? `${id}-problem` : undefined,
      onChange: (event) => read(event.currentTarget),
    }),
    h("input", { ref: picker, type: "date", max: "9999-12-31", tabIndex: -1, "aria-hidden": true, value, onChange: (event) => choose(event.currentTarget.value) }),
    h(IconButton, { icon: "Calendar", label: t("date.pick"), onClick: () => picker.current?.showPicker() }),
    wrong && h("p", { id: `${id}-problem`, class: "problem", role: "alert" }, t("date.wrong", { example: day(Date.now() / 1000) })),
  ));
}

/** @param {string} date As `2026-11-22`. @returns {string} */
function written(date) {
  const at = beginning(date);
  return at === undefined ? "" : day(at);
}

/**
 * Read a date as people write it: with the name of the month, with numbers in the order of the language, or as ISO 8601.
 *
 * @param {string} text
 * @returns {string | undefined} as `2026-11-22`; without a year, the date of this year; undefined unless it is a date from 1970 on
 */
function dateOf(text) {
  const words = text.toLowerCase().match(/\p{L}+|\d+/gu) ?? [];
  const numbers = words.filter((word) => /^\d+$/.test(word));
  const named = MONTHS.find((month) => words.some((word) => namesOf(month).includes(word.slice(0, 3))));
  const order = /^\d{4}/.test(text) ? ["year", "month", "day"] : orderOfLanguage();
  const parts = order.filter((part) => part !== "month" || named === undefined);
  const found = /** @type {Record<string, number>} */ (Object.fromEntries(numbers.map((number, at) => [parts[at] ?? "more", Number(number)])));
  const { year = new Date().getFullYear(), month = (named ?? NaN) + 1, day: number = NaN, more } = found;
  const whole = year < 100 ? year + 2000 : year;
  const date = new Date(whole, month - 1, number);
  const isDate = more === undefined && whole >= 1970 && whole <= 9999 && date.getMonth() === month - 1 && date.getDate() === number;
  return isDate ? [String(whole), ...[month, number].map((part) => String(part).padStart(2, "0"))].join("-") : undefined;
}

/** @returns {string[]} such as day, month and year */
const orderOfLanguage = () =>
  new Intl.DateTimeFormat(language.value, { dateStyle: "short" }).formatToParts().map(({ type }) => type).filter((type) => type !== "literal");

/** The month alone, and in a date, where some languages decline it. @type {Intl.DateTimeFormatOptions[]} */
const FORMS = [{ month: "long" }, { month: "long", day: "numeric" }];

/** @param {number} month @returns {(string | undefined)[]} the beginnings of its names */
const namesOf = (month) =>
  FORMS.map((form) => {
    const parts = new Intl.DateTimeFormat(language.value, form).formatToParts(new Date(2000, month, 1));
    return parts.find(({ type }) => type === "month")?.value.slice(0, 3).toLowerCase();
  });

/** Acts or changes in words, newest first: each opens to what it did, and can be undone; those of one record, to restore its versions. */
import { h, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { isSingle, kindsOfAct, obstacleTo, read, readChange, readListsOf, undoChange, undoRequest } from "./changes.js";
import { describe, sayDone, sayFailure } from "../../notices.js";
import { isListed, KINDS } from "../../records.js";
import { isHere } from "../../router.js";
import { may } from "../../session.js";
import { dayWords, t } from "../../texts.js";
import { Button, lazy, Link, Pending, Skeleton, Time } from "../primitives/basics.js";
import { useRead, useRun } from "../primitives/hooks.js";
import { ActWords, Words } from "./words.js";
import { ask } from "../primitives/dialog.js";
import { usePages } from "../primitives/pages.js";

/** @typedef {import("./changes.js").Entry} Entry */
/** @typedef {import("./changes.js").Obstacle} Obstacle */

/** The number of changes of a request shown at its entry; its own page has all. */
const SHOWN = 20;

/**
 * @param {object} props
 * @param {Entry[]} props.entries
 * @param {() => void} props.undone
 * @param {string} props.label
 * @param {boolean} [props.days] Whether each day has a heading.
 * @param {Act | undefined} [props.act] To which all of them belong.
 */
export function ChangeList({ entries, undone, label, days = false, act }) {
  const whole = act && undoOf(act);
  const known = entries.flatMap(({ change }) => change ?? []);
  const list = (/** @type {Entry[]} */ some, /** @type {string} */ name) =>
    h("ol", { class: "box divided changes", "aria-label": name },
      some.map((entry) => h("li", { key: entry.newest, class: "change" }, entry.act ? h(ActItem, { act: entry.act, undone }) : h(Item, { change: entry.change, known, undone, obstacle: whole }))),
    );
  if (!days) return list(entries, label);
  return h("div", { class: "days" },
    [...byDay(entries)].map(([day, some]) => h("section", { key: day, class: "stack day" }, h("h2", null, dayWords(day)), list(some, dayWords(day)))),
  );
}

/** @param {Entry[]} entries @returns {Map<number, Entry[]>} by when their day began here, in Unix time */
const byDay = (entries) => Map.groupBy(entries, (entry) => new Date((entry.act ?? entry.change).at * 1000).setHours(0, 0, 0, 0) / 1000);

/**
 * Undo something, and report the result.
 * @param {() => void} undone @returns {{busy: boolean, complaint: any, undo: (act: () => Promise<Answer>, changes: {kind: string}[]) => Promise<void>}}
 */
export function useUndo(undone) {
  const [complaint, setComplaint] = useState(/** @type {any} */ (undefined));
  const failed = (/** @type {Failure} */ failure, /** @type {() => void} */ again) => (failure.repeat || failure.kind === "wait" ? sayFailure(failure, again) : setComplaint(h(Refusal, { failure })));
  const { busy, run } = useRun({ failed });
  /** @param {() => Promise<Answer>} act @param {{kind: string}[]} changes */
  const undo = (act, changes) => {
    setComplaint(undefined);
    const after = () => {
      readListsOf(changes);
      undone();
    };
    return run(act, ({ requestId }) => {
      sayDone(t("undone"), [requestId], after, () => t("redone"));
      after();
    });
  };
  return { busy: busy !== "", complaint, undo };
}

/** Why it cannot be undone; with the change that is in the way, if it is one. @param {{failure: Failure}} props */
function Refusal({ failure }) {
  const [, number] = /by change (\d+)/.exec(failure.detail) ?? [];
  const isSince = failure.kind === "conflict" && number !== undefined;
  const { data: change } = useRead(async (signal) => (isSince ? readChange(Number(number), signal) : undefined));
  if (!isSince) return h("p", { class: "complaint", role: "alert", dir: "auto" }, describe(failure));
  return h("p", { class: "complaint", role: "alert" },
    t("history.since"),
    " ",
    h(Link, { to: `history/${number}` }, change ? h(Words, { change }) : t("history.later")),
    ". ",
    t("history.first"),
  );
}

/** @param {string} kind @returns {string} the scope that undoing a change of such a record needs */
const writeScope = (kind) => (isListed(kind) ? KINDS[kind].write : "*");

/** The act of one request; its changes are read when somebody opens it. @param {{act: Act, undone: () => void}} props */
function ActItem({ act, undone }) {
  const [open, setOpen] = useState(false);
  return h("article", { class: "change-item" },
    h(Disclosure, { open, setOpen, summary: h(ActWords, { act }), seconds: act.at }, h(Changes, { act, undone })),
    h(UndoAct, { act, undone, tone: "quiet" }),
  );
}

/** Undoes an act, or says why that is not possible. @param {{act: Act, undone: () => void, tone?: string}} props */
export function UndoAct({ act, undone, tone = "" }) {
  const { busy, complaint, undo } = useUndo(undone);
  const kinds = kindsOfAct(act).map((kind) => ({ kind }));
  const lacking = kinds.map(({ kind }) => writeScope(kind)).find((scope) => !may(scope));
  const request = act.request_id;
  const isOne = isSingle(act) || request === null;
  const run = () => undo(() => (request === null || act.count === 1 ? undoChange(act) : undoRequest(request)), kinds);
  const reason = act.can_undo || lacking ? undefined : (lasting(Object.keys(act.actions)) ?? t("history.used"));
  return [
    h(Undoable, { key: "undo", obstacle: obstacleToAct(act) },
      isOne
        ? h(Button, { tone, icon: "Undo2", scope: lacking, reason, busy, onClick: () => void run() }, t("undo"))
        : h(UndoAll, { request: request ?? "", changes: kinds, count: act.count, busy, undo, reason, tone }),
    ),
    complaint,
  ];
}

/** @param {Act} act @returns {Obstacle | undefined} what undid all of it */
const undoOf = ({ undone_by: undoer }) => (undoer === null ? undefined : { why: "undone", to: `history?request=${encodeURIComponent(undoer)}` });

/** @param {Act} act @returns {Obstacle | undefined} why it cannot be undone, if there is a place that says more */
function obstacleToAct(act) {
  const { why_not: whyNot, origin } = act;
  if (origin === "first start") return { why: "since" };
  if (undoOf(act)) return undoOf(act);
  const [, number] = /by change (\d+)/.exec(whyNot ?? "") ?? [];
  return number === undefined ? undefined : { why: "since", to: `history/${number}` };
}

/** The changes of an act, the first ones if they are many. @param {{act: Act, undone: () => void}} props */
function Changes({ act, undone }) {
  const request = act.request_id;
  const isOne = act.count === 1;
  const query = isOne || request === null ? { after: act.change_id - 1, limit: 1 } : { request_id: request, limit: SHOWN };
  const { data, failure, again } = useRead(async (signal) => (await read(query, signal)).data, [act.change_id]);
  if (!data) return h(Pending, { failure, again });
  if (isOne) return data[0] ? h(Details, { change: data[0] }) : null;
  const whole = undoOf(act);
  return [
    h("ol", { key: "changes", class: "box divided changes inner" }, data.map((change) => h("li", { key: change.change_id, class: "change" }, h(Item, { change, known: data, undone, obstacle: whole })))),
    h(Link, { key: "all", to: `history?request=${encodeURIComponent(request ?? "")}` }, t("history.all", { n: act.count })),
  ];
}

/** @param {string[]} actions @returns {string | undefined} why nobody can undo them */
function lasting(actions) {
  if (actions.every((action) => action.endsWith(".password_set"))) return t("history.lasting");
  return actions.every((action) => action === "picture.removed") ? t("history.lasting.picture") : undefined;
}

/** @param {{change: Change, known: Change[], undone: () => void, isOpen?: boolean, obstacle?: Obstacle | undefined, whole?: number}} props `obstacle`: used if `known` has none; `whole`: how many changes its request made. */
export function Item({ change, known, undone, isOpen = false, obstacle, whole = 1 }) {
  const [open, setOpen] = useState(isOpen);
  const { busy, complaint, undo } = useUndo(undone);
  return h("article", { class: "change-item" },
    h(Disclosure, { open, setOpen, summary: h(Words, { change }), seconds: change.at }, h(Details, { change })),
    h(Undoable, { obstacle: obstacleTo(change, known) ?? obstacle },
      h(Button, { tone: "quiet", icon: "Undo2", scope: writeScope(change.kind), reason: lasting([change.action]), busy, onClick: () => void undo(() => undoChange(change), [change]) }, t("undo")),
    ),
    whole > 1 && h(PartOf, { change, count: whole }),
    complaint,
  );
}

/** The button that undoes, or the reason why that is not possible; the focus stays here when one replaces the other. @param {{obstacle: Obstacle | undefined, children?: any}} props */
function Undoable({ obstacle, children }) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const isUsed = useRef(false);
  useLayoutEffect(() => {
    if (obstacle && isUsed.current) element.current?.querySelector("a")?.focus();
    isUsed.current = false;
  }, [obstacle === undefined]);
  return h("div", { ref: element, class: "undoable", onClick: () => (isUsed.current = true) },
    obstacle ? obstacle.to && h(Link, { to: obstacle.to }, t(`history.obstacle.${obstacle.why}`)) : children,
  );
}

/** That a change is one of many of its request, and the way to all of them, where they can be undone. @param {{change: Change, count: number}} props */
const PartOf = ({ change, count }) => h("p", { class: "part-of" }, h(Link, { to: `history?request=${encodeURIComponent(change.request_id ?? "")}` }, t("history.part", { n: count })));

/** @param {{request: string, changes: {kind: string}[], count: number, tone?: string, reason?: string | undefined} & Omit<ReturnType<typeof useUndo>, "complaint">} props `changes`: those that are known; `reason`: why it cannot be undone. */
export function UndoAll({ request, changes, count, busy, undo, reason, tone = "plain" }) {
  const run = async () => {
    const question = { title: t("history.undo.title", { n: count }), text: t("history.undo.text"), yes: t("undo"), no: t("cancel") };
    if (await ask(question)) await undo(() => undoRequest(request), changes);
  };
  const lacking = changes.map(({ kind }) => writeScope(kind)).find((scope) => scope && !may(scope));
  return h(Button, { tone, icon: "Undo2", scope: lacking, reason, busy, onClick: () => void run() }, t("history.undo.all"));
}

/** @param {{change: Change}} props */
function Details({ change }) {
  const { kind, id, change_id } = change;
  const links = /** @type {[string, string][]} */ ([
    ...(change.after ? [[isListed(kind) ? `${kind}s/${id}` : kind, t("history.record")]] : []),
    [`history?kind=${kind}&id=${id}`, t("history.same")],
    [`history/${change_id}`, t("history.change", { id: String(change_id) })],
  ]);
  return h("div", { class: "stack loose" },
    h(Difference, { change }),
    h("p", { class: "change-links" }, links.filter(([to]) => !isHere(to)).map(([to, text]) => h(Link, { key: to, to }, text))),
  );
}

/** Loaded when somebody first looks at a difference: most only read what happened. */
const Difference = lazy(() => import("./change_diff.js").then((module) => module.ChangeDiff), () => h(Skeleton, {}));

/** @param {{open: boolean, setOpen: (open: boolean) => void, summary: any, seconds: number, children?: any}} props */
function Disclosure({ open, setOpen, summary, seconds, children }) {
  const id = useId();
  return h("div", { class: "disclosure" },
    h("button", { type: "button", class: "disclosure-head", "aria-expanded": open, "aria-controls": id, onClick: () => setOpen(!open) },
      summary,
      h("span", { class: "change-time" }, h(Time, { seconds })),
    ),
    h("div", { id, class: "disclosure-body", hidden: !open }, open && children),
  );
}

/** The number of versions at a time. */
const SIZE = 8;
const AgainstNow = lazy(() => import("./change_diff.js").then((module) => module.AgainstNow), () => h(Skeleton, {}));

/** The history of one record: each version is seen against what the record is now, and restored. @param {{kind: KindName, recordId: number, since: unknown}} props Read again when `since` differs. */
export function RecordHistory({ kind, recordId, since }) {
  const isAllowed = may("changes:read");
  const { records: changes, more, unread } = usePages(
    /** @returns {Promise<{data: Change[], next: string}>} */
    async (/** @type {Change | undefined} */ last, signal) => (isAllowed ? read({ kind, id: recordId, order: "desc", limit: SIZE, ...(last && { after: last.change_id }) }, signal) : { data: [], next: "" }),
    [kind, recordId, isAllowed, since],
  );
  const [now] = changes ?? [];
  return h("section", { class: "stack loose section record-history" },
    h("h2", null, t("history.title")),
    !isAllowed && h("p", { class: "hint" }, t("record.history.needs")),
    !changes && !unread && h(Skeleton, {}),
    isAllowed && changes && !now && h("p", { class: "hint" }, t("record.history.none")),
    now && h("ol", { class: "box divided changes", "aria-label": t("history.title") }, changes?.map((change) => h("li", { key: change.change_id, class: "change" }, h(Version, { kind, change, now })))),
    unread,
    h("div", { class: "cluster form-actions" },
      more,
      now && h(Link, { to: `history?kind=${kind}&id=${recordId}` }, t("record.history.all")),
    ),
  );
}

/** @param {{kind: KindName, change: Change, now: Change}} props The change that made the version, and the last one. */
function Version({ kind, change, now }) {
  const [open, setOpen] = useState(false);
  return h("article", { class: "change-item" },
    h(Disclosure, { open, setOpen, summary: h(Words, { change }), seconds: change.at }, h(AgainstNow, { key: now.change_id, kind, change, now })),
  );
}

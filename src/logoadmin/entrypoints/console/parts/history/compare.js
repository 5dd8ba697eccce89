/** The states of a record at two moments of its history, and what differs between them. */
import { h, useEffect, useId, useState } from "../../vendor/preact.js";
import { Failure, call, returned, versionIn } from "../../client.js";
import { describe, sayDone } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, readList, refreshList } from "../../records.js";
import { may } from "../../session.js";
import { enumeration, exactTime, t } from "../../texts.js";
import { Button, Skeleton, Unread } from "../primitives/basics.js";
import { Dialog } from "../primitives/dialog.js";
import { lazy } from "../primitives/lazy.js";
import { words } from "../primitives/fields.js";
import { ChangeDiff } from "./change_diff.js";
import { actor, authorIds } from "./change_words.js";
import { fieldsOfChange, read } from "./changes.js";

/** @typedef {import("./changes.js").Change} Change */
/** @typedef {{key: string, text: string, state: Change["after"]}} Moment */

const SIZE = 100;
const VersionPreviews = lazy(() => import("./version_previews.js").then((module) => module.VersionPreviews));

/** @param {{kind: import("../../records.js").KindName, recordId: number, close: () => void}} props */
export function Compare({ kind, recordId, close }) {
  const [changes, setChanges] = useState(/** @type {Change[]} */ ([]));
  const [after, setAfter] = useState(/** @type {number | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const [chosen, setChosen] = useState(/** @type {{from?: string, to?: string}} */ ({}));
  const load = async () => {
    try {
      const { data, next } = await read({ kind, id: recordId, order: "desc", limit: SIZE, ...(after ? { after } : {}) });
      setChanges([...changes, ...data]);
      setAfter(next ? (data.at(-1)?.change_id ?? 0) : 0);
      setFailure(undefined);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
  };
  useEffect(() => {
    void load();
    void readList("author");
    if (may("roles:read")) void readList("role");
  }, []);
  const moments = momentsOf(changes, after === 0);
  const to = moments.find(({ key }) => key === chosen.to) ?? moments[0];
  const from = moments.find(({ key }) => key === chosen.from) ?? moments[1];
  const choose = (/** @type {"from" | "to"} */ name) => (/** @type {string} */ key) => setChosen({ ...chosen, [name]: key });
  const [last] = changes;
  return h(
    Dialog,
    { title: t("compare.title"), close, look: "wide" },
    failure && h(Unread, { failure, again: () => void load() }),
    !last && !failure && h(Skeleton, {}),
    from && to && [
      h("div", { key: "moments", class: "filters moments" }, h(Choice, { name: "from", moments, value: from.key, choose: choose("from") }), h(Choice, { name: "to", moments, value: to.key, choose: choose("to") })),
      h("div", { key: `${from.key} ${to.key}`, "aria-live": "polite" }, last && h(Differences, { change: { ...last, before: from.state, after: to.state } })),
      from.state && to.state && (kind === "logo" || kind === "theme") && h(VersionPreviews, { key: `previews ${from.key} ${to.key}`, kind, from: from.state, to: to.state }),
    ],
    h(
      "div",
      { class: "cluster dialog-actions" },
      last && from?.state && h(Restore, { key: from.key, kind, recordId, now: last, state: from.state, close }),
      Boolean(after) && h(Button, { tone: "quiet", onClick: () => void load() }, t("record.history.more")),
      h(Button, { onClick: close }, t("close")),
    ),
  );
}

/**
 * Give the record what it was at the first of the two moments, as a new change.
 * @param {{kind: import("../../records.js").KindName, recordId: number, now: Change, state: NonNullable<Change["after"]>, close: () => void}} props
 */
function Restore({ kind, recordId, now, state, close }) {
  const [busy, setBusy] = useState(false);
  const [complaint, setComplaint] = useState("");
  const set = restored({ ...now, before: now.after, after: state });
  const run = async () => {
    setBusy(true);
    setComplaint("");
    const done = () => {
      void refreshList(kind);
      returned.value += 1;
    };
    try {
      const { etag } = await call("get", /** @type {any} */ (KINDS[kind].one), /** @type {any} */ ({ path: { [KINDS[kind].id]: recordId } }));
      const change = /** @type {any} */ ({ kind, id: recordId, version: versionIn(etag), set });
      const { requestId } = await call("post", "/api/changes", { body: { changes: [change] } });
      close();
      sayDone(t("restored", { name: nameOf(kind, state) }), [requestId], done);
      done();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setComplaint(describe(error));
      setBusy(false);
    }
  };
  return [
    complaint && h("p", { key: "complaint", class: "complaint", role: "alert", dir: "auto" }, complaint),
    h(Button, { key: "restore", icon: "Undo2", scope: KINDS[kind].write, busy, idle: Object.keys(set).length === 0, onClick: () => void run() }, t("compare.restore")),
  ];
}

/** @param {Change} change From how the record is to how it was. @returns {Record<string, any>} what differs, as a bulk change takes it */
function restored(change) {
  /** @type {Record<string, any>} */
  const was = change.after ?? {};
  const fields = fieldsOfChange(change).filter((name) => !["created_at", "blocked", "pins"].includes(name));
  return Object.fromEntries(fields.map((name) => (name === "authors" ? ["author_ids", authorIds(was["authors"])] : [name, was[name] ?? null])));
}

/** @param {{change: Change}} props */
function Differences({ change }) {
  return fieldsOfChange(change).length === 0 ? h("p", { class: "hint" }, t("diff.same")) : h(ChangeDiff, { change });
}

/** @param {Change[]} changes Newest first. @param {boolean} isAll @returns {Moment[]} after each of them, and before the first */
function momentsOf(changes, isAll) {
  const moments = changes.map((change) => ({ key: String(change.change_id), text: momentWords(change), state: change.after }));
  const first = changes.at(-1);
  return isAll && first ? [...moments, { key: "0", text: t("compare.before", { time: exactTime(first.at) }), state: first.before }] : moments;
}

/** @param {Change} change @returns {string} the time, the action and the user, for an option of a select */
function momentWords(change) {
  const action = t(/** @type {import("../../texts.js").TextKey} */ (`action.${change.action.slice(change.kind.length + 1)}`));
  const fields = change.action.endsWith(".amended") ? enumeration(fieldsOfChange(change).map((name) => words(name, "label"))) : "";
  return t("compare.moment", { time: exactTime(change.at), who: actor(change), what: fields ? `${action}: ${fields}` : action });
}

/** @param {{name: "from" | "to", moments: Moment[], value: string, choose: (key: string) => void}} props */
function Choice({ name, moments, value, choose }) {
  const id = useId();
  return h(
    "div",
    { class: "filter" },
    h("label", { class: "label", for: id }, t(`compare.${name}`)),
    h(
      "select",
      { id, class: "input", value, onChange: (/** @type {Event} */ event) => choose(/** @type {HTMLSelectElement} */ (event.currentTarget).value) },
      moments.map(({ key, text }) => h("option", { key, value: key }, text)),
    ),
  );
}

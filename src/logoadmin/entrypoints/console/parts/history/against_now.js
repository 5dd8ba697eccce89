/** A version of a record beside what the record is now: what differs, how both look, and the way back. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { Failure, call, returned } from "../../client.js";
import { flat, nested } from "../../details.js";
import { describe, sayDone } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { KINDS, readList, refreshList } from "../../records.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { lazy } from "../primitives/lazy.js";
import { ChangeDiff } from "./change_diff.js";
import { authorIds } from "./change_words.js";
import { fieldsOfChange } from "./changes.js";

/** @typedef {import("./changes.js").Change} Change */

const VersionPreviews = lazy(() => import("./version_previews.js").then((module) => module.VersionPreviews));
/** What a change of the record does not set. */
const UNSET = ["created_at", "blocked", "pins"];

/** @param {{kind: import("../../records.js").KindName, change: Change, now: Change}} props */
export function AgainstNow({ kind, change, now }) {
  const [busy, setBusy] = useState(false);
  const [complaint, setComplaint] = useState("");
  useEffect(() => {
    void readList("author");
    if (may("roles:read")) void readList("role");
  }, []);
  const { after: then } = change;
  const difference = { ...now, before: then, after: now.after };
  if (!then || !now.after) return h("p", { class: "hint" }, t("version.gone"));
  if (fieldsOfChange(difference).length === 0) return h("p", { class: "hint" }, t("version.same"));
  const set = restored(difference);
  const restore = async () => {
    setBusy(true);
    setComplaint("");
    const done = () => {
      void refreshList(kind);
      returned.value += 1;
    };
    try {
      const { requestId } = await call("post", "/api/changes", { body: { changes: [/** @type {any} */ ({ kind, id: now.id, version: now.change_id, set })] } });
      sayDone(t("restored", { name: nameOf(kind, then) }), [requestId], done);
      done();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setComplaint(describe(error));
      setBusy(false);
    }
  };
  return h("div", { class: "stack loose" },
    h(ChangeDiff, { change: difference, before: t("version.then"), after: t("version.now") }),
    (kind === "logo" || kind === "theme") && h(VersionPreviews, { kind, then, now: now.after }),
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    h("div", { class: "cluster" }, h(Button, { icon: "Undo2", scope: KINDS[kind].write, busy, idle: Object.keys(set).length === 0, onClick: () => void restore() }, t("version.restore"))),
  );
}

/** @param {Change} difference From how the record was to how it is. @returns {Record<string, any>} what differs, as a bulk change takes it */
function restored(difference) {
  const was = flat(difference.before) ?? {};
  const fields = fieldsOfChange(difference).filter((name) => !UNSET.includes(name));
  return nested(Object.fromEntries(fields.map((name) => (name === "authors" ? ["author_ids", authorIds(was["authors"])] : [name, was[name] ?? null]))));
}

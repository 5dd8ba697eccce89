/** The form of a record whose values are proposed or mended instead of saved (contract R4). */
import { h, useState } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { describe, sayFailure } from "../../notices.js";
import { t } from "../../texts.js";
import { Judging, Verdict, useWidgets } from "../artwork/artwork_form.js";
import { atFields, knowAuthors } from "../artwork/authorship.js";
import { Button, Skeleton, Unread } from "../primitives/basics.js";
import { RecordForm } from "../primitives/fields.js";
import { useRead } from "../primitives/use_read.js";
import { Rules } from "./member_fields.js";
import { openForm, valuesOf } from "./proposed_values.js";

/** @typedef {import("./proposed_values.js").ProposableKind} ProposableKind */
/** @typedef {import("./proposed_values.js").Opened} Opened */

/**
 * @param {object} props
 * @param {ProposableKind} props.kind
 * @param {number} [props.id] None for a new record.
 * @param {import("../../proposals.js").ProposedChange} [props.change] The earlier proposal.
 * @param {string} [props.note]
 * @param {boolean} [props.isReviewed]
 * @param {string} props.does The words of the button.
 * @param {(values: Record<string, unknown>, opened: Opened) => Promise<void>} props.send
 */
export function ProposalForm({ kind, id, change, note = "", isReviewed = false, does, send }) {
  const { data: opened, failure, again } = useRead((stop) => openForm({ kind, id, change, note, isReviewed }, stop), [kind, id]);
  // A service that was away for a moment does not begin the input again.
  const [first, setFirst] = useState(/** @type {Opened | undefined} */ (undefined));
  if (opened && !first) setFirst(opened);
  if (!first) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});
  const renewed = async () => {
    const newer = await openForm({ kind, id, change, note, isReviewed }, new AbortController().signal);
    first.form.rebase(newer.begin);
    setFirst({ ...newer, form: first.form });
  };
  return h(Fields, { kind, opened: first, isChanging: change !== undefined, isReviewed, does, send, renewed });
}

/**
 * @param {object} props
 * @param {ProposableKind} props.kind
 * @param {Opened} props.opened
 * @param {boolean} props.isChanging Whether it was proposed before.
 * @param {boolean} props.isReviewed
 * @param {string} props.does
 * @param {(values: Record<string, unknown>, opened: Opened) => Promise<void>} props.send
 * @param {() => Promise<void>} props.renewed Reads the record again.
 */
function Fields({ kind, opened, isChanging, isReviewed, does, send, renewed }) {
  const { form, record } = opened;
  const [busy, setBusy] = useState(false);
  const [complaint, setComplaint] = useState("");
  const isArtwork = kind !== "author";
  if (kind !== "author") useWidgets(kind);
  knowAuthors(record);
  const { custom_css: css = "", target = "", preview_url: picture = "" } = /** @type {Record<string, string>} */ (form.values.value);
  const saved = String(record?.custom_css ?? "");
  const isIdle = record !== undefined && Object.keys(valuesOf(opened)).length === 0;
  const save = async () => {
    if (isIdle) return;
    setBusy(true);
    setComplaint("");
    try {
      await send(valuesOf(opened), opened);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === "invalid") setComplaint(form.take(atFields(error.problems)).join("\n"));
      else if (error.kind === "tooLarge") form.tooLarge();
      else if (error.kind === "outdated") {
        await renewed().catch(() => undefined);
        setComplaint(t("submit.outdated"));
      } else if (error.passes) sayFailure(error, () => void save());
      else setComplaint(/^\d+ proposals of this user wait/.test(error.detail) ? t("submit.many") : describe(error));
    } finally {
      setBusy(false);
    }
  };
  return [
    complaint && h("p", { key: "complaint", class: "complaint", role: "alert", dir: "auto" }, complaint),
    h("div", { key: "form", class: isArtwork ? "editor" : "view narrow" },
      kind !== "author" && !isReviewed && h(Rules, { kind }),
      h("div", { class: "form-column" },
        h(RecordForm, { form, save, isNew: record === undefined && !isChanging },
          isArtwork && (css || saved) && h(Verdict, { kind, recordId: undefined, css, set: (/** @type {string} */ text) => form.set("custom_css", text) }),
          h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", busy, idle: isIdle }, does)),
        ),
      ),
      isArtwork && h("div", { class: "editor-aside" }, h(Judging, { kind, id: undefined, css, saved: { css: saved, target }, target, picture })),
    ),
  ];
}

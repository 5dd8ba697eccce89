/** The values of a proposed change, between the form of a record and the interface (contract R1). */
import { call } from "../../client.js";
import { flat, nested, withDetails } from "../../details.js";
import { FormState, fieldsOf, theInterface } from "../../form.js";
import { KINDS } from "../../records.js";
import { readShared } from "../../shared_settings.js";
import { forSubmitters, onlyTarget } from "./member_fields.js";

/** @typedef {import("../../proposals.js").Proposal} Proposal */
/** @typedef {import("../../proposals.js").ProposedChange} ProposedChange */
/** @typedef {import("../../form.js").Field} Field */
/** @typedef {"logo" | "theme" | "author"} ProposableKind */
/** @typedef {{record: any, version: number | undefined, form: FormState, begin: any, now: import("../../form.js").Values}} Opened `begin`: the record as it was proposed, and `now` as it is, in the form. */

/** A few words to the reviewer, which belong to the proposal and not to the record. @type {Field} */
const NOTE = { name: "note", schema: { type: "string", maxLength: 2000 }, required: false, nullable: false, widget: "text area", isLink: true };
/** Applied artworks are active, and submitters are the authors themselves. */
const LEFT_OUT = { reviewer: ["active"], submitter: ["active", "authors", "user_id", "details.origin"] };

/**
 * @param {object} what
 * @param {ProposableKind} what.kind
 * @param {number | undefined} what.id None for a new record.
 * @param {ProposedChange | undefined} what.change The earlier proposal.
 * @param {string} what.note
 * @param {boolean} what.isReviewed Whether somebody with the right changes it, who may set every field.
 * @param {AbortSignal} stop
 * @returns {Promise<Opened>} the form with the proposed values
 */
export async function openForm({ kind, id, change, note, isReviewed }, stop) {
  const { one, id: name } = KINDS[kind];
  const isMembers = !isReviewed && kind !== "author";
  const [described, answer] = await Promise.all([
    theInterface(),
    id === undefined ? undefined : call("get", /** @type {any} */ (one), /** @type {any} */ ({ path: { [name]: id }, signal: stop })),
    isMembers && readShared(stop),
  ]);
  const record = /** @type {any} */ (answer?.data);
  const all = fieldsOf(described, `${id === undefined ? "create" : "amend"}_${kind}`, kind)
    .filter(({ name: field }) => !LEFT_OUT[isReviewed ? "reviewer" : "submitter"].includes(field))
    .map(({ isLink: _, ...field }) => field);
  const fields = isMembers ? forSubmitters(all) : all;
  if (!isReviewed) fields.push(NOTE);
  const given = isMembers && id === undefined ? { target: onlyTarget() } : {};
  const proposed = /** @type {any} */ (change?.set ?? change?.create ?? {});
  const authorIds = proposed.author_ids ?? (change?.create && change.after?.["author_ids"]);
  const authors = authorIds && authorIds.map((/** @type {number} */ authorId) => ({ author_id: authorId }));
  const begin = { ...withDetails({ ...given, ...record, ...proposed, details: record?.details }, proposed.details), ...(authors ? { authors } : {}), note };
  const now = new FormState(fields, { ...given, ...record, note }).base.value;
  return { record, version: answer && Number(/\d+/.exec(answer.etag)?.[0]), form: new FormState(fields, begin), begin, now };
}

/** @param {Opened} opened @returns {Record<string, unknown>} the values as the interface wants them; without any, there is nothing to propose */
export function valuesOf({ record, form, now }) {
  const { authors, ...values } = record ? form.changedFrom(now) : form.whole;
  return authors === undefined ? values : { ...values, author_ids: authors };
}

/** @param {ProposedChange} change @param {FormState} form @param {Record<string, unknown>} values Of the form. @returns {Record<string, unknown>} the values with those that the form has no field for */
export function withRest({ set, create }, form, values) {
  const shown = ["author_ids", ...form.fields.map(({ name }) => name)];
  const rest = Object.entries(flat(set ?? create ?? {})).filter(([name]) => !shown.includes(name) || (name === "author_ids" && !form.fields.some((field) => field.name === "authors")));
  return nested({ ...Object.fromEntries(rest), ...flat(values) });
}

/** @param {ProposedChange} change @returns {any} as it is sent again */
export const asSent = ({ kind, id, version, set, block, remove, create }) =>
  create ? { kind, create } : { kind, id, version, ...(remove ? { remove } : block ? { block } : { set }) };

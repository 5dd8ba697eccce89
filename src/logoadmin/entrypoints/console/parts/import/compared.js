/**
 * What lines would change in which record. The service only answers counts, so the lines are compared here with the records
 * that they name, as these are now.
 *
 * @typedef {import("../../records.js").KindName} KindName
 * @typedef {object} Compared
 * @property {number} line
 * @property {KindName} kind
 * @property {"created" | "amended" | "unchanged"} outcome
 * @property {Record<string, any> | null} before
 * @property {Record<string, any>} after
 */
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { recordsById } from "../lists/pages.js";
import { lineOf, recordOf } from "./record_lines.js";

/** A longer file is not compared: nobody reads it record by record. */
export const MOST_COMPARED = 8 * 1024 * 1024;
/** The most pages of records read of each kind. */
const PAGES = 10;
/** @type {Partial<Record<KindName, string>>} What one must hold to see them. */
const SCOPES = { user: "users:read", role: "roles:read" };

/**
 * @param {Blob} file Lines that the service accepts.
 * @param {AbortSignal} stop
 * @returns {Promise<{compared: Compared[], hidden: KindName[]}>} `hidden` are the kinds of which not all records can be read
 * @throws {import("../../client.js").Failure}
 */
export async function comparedLines(file, stop) {
  /** @type {Map<KindName, {line: number, values: any}[]>} */
  const kinds = new Map();
  for (const [at, text] of (await file.text()).replace(/^\ufeff/, "").split("\n").entries()) {
    if (text.trim() === "") continue;
    const values = JSON.parse(text);
    kinds.set(values.kind, [...(kinds.get(values.kind) ?? []), { line: at + 1, values }]);
  }
  /** @type {Compared[]} */
  const compared = [];
  /** @type {KindName[]} */
  const hidden = [];
  for (const [kind, lines] of kinds) {
    const { id } = KINDS[kind];
    const ids = lines.map(({ values }) => values[id]).filter((each) => each !== undefined);
    const scope = SCOPES[kind];
    const found = !scope || may(scope) ? await recordsById(kind, ids, { stop, pages: PAGES }) : undefined;
    if (!found?.isWhole) hidden.push(kind);
    else compared.push(...lines.map(({ line, values }) => comparedLine(kind, line, values, found.records)));
  }
  return { compared: compared.sort((a, b) => a.line - b.line), hidden };
}

/**
 * @param {KindName} kind @param {number} line @param {any} values
 * @param {Map<number, any>} records As they are; a later line for the same record continues from this one.
 * @returns {Compared}
 */
function comparedLine(kind, line, values, records) {
  const { id } = KINDS[kind];
  const known = records.get(values[id]);
  const before = known ? lineOf(kind, known) : null;
  const after = { ...before, ...values };
  if (values[id] !== undefined) records.set(values[id], recordOf(after));
  const isSame = before !== null && JSON.stringify(sorted(before)) === JSON.stringify(sorted(after));
  return { line, kind, outcome: before === null ? "created" : isSame ? "unchanged" : "amended", before: before && recordOf(before), after: recordOf(after) };
}

/** @param {Record<string, any>} values */
const sorted = (values) => Object.entries(values).sort(([a], [b]) => (a < b ? -1 : 1));

/** A record as a line of a file has it, and a line as the history has a record. */

/** @typedef {import("../../records.js").KindName} KindName */

/** @param {KindName} kind @param {any} record @returns {Record<string, any>} */
export function lineOf(kind, { authors, ...record }) {
  return { kind, ...record, ...(authors ? { author_ids: authors.map((/** @type {{author_id: number}} */ each) => each.author_id) } : {}) };
}

/** @param {Record<string, any>} line @returns {Record<string, any>} with its authors as the history has them */
export function recordOf({ kind: _, author_ids: ids, ...line }) {
  return Array.isArray(ids) ? { ...line, authors: ids.map((id) => ({ author_id: id })) } : line;
}

/**
 * Who made a logo or theme, in their order. The interface adds an author at the end and takes one away, so an order is
 * made of both, in as few writes as that takes.
 */
import { call, Failure } from "../../client.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf, readList } from "../../records.js";
import { t } from "../../texts.js";

/** @typedef {import("../record/editing.js").Editing} Editing */
/** @typedef {import("../record/editing.js").Step} Step */

/**
 * @param {readonly number[]} now
 * @param {readonly number[]} wanted
 * @returns {{does: "link" | "unlink", authorId: number} | undefined} the next write on the way from one to the other
 */
export function nextLink(now, wanted) {
  // Authors that stay come before new ones: keep the longest prefix of the wanted order that is already linked.
  let kept = 0;
  for (const authorId of now) if (authorId === wanted[kept]) kept += 1;
  const staying = new Set(wanted.slice(0, kept));
  const going = now.find((authorId) => !staying.has(authorId));
  if (going !== undefined) return { does: "unlink", authorId: going };
  const coming = wanted[kept];
  return coming === undefined ? undefined : { does: "link", authorId: coming };
}

/**
 * @param {Editing} editing of a logo or theme
 * @returns {Step | undefined} the next write that brings its authors closer to those of the form
 */
export function authorStep(editing) {
  const form = editing.form.value;
  const record = editing.record.value;
  const now = /** @type {{author_id: number}[]} */ (record.authors ?? []);
  const next = nextLink(
    now.map((author) => author.author_id),
    /** @type {number[]} */ (form?.values.value.authors ?? []),
  );
  if (!next) return undefined;
  const { authorId } = next;
  const path = `${KINDS[editing.kind].one}/authors`;
  const left = now.filter((author) => author.author_id !== authorId);
  if (next.does === "unlink") {
    return {
      send: () => call("delete", /** @type {any} */ (`${path}/{author_id}`), /** @type {any} */ ({ path: { ...editing.path, author_id: authorId } })),
      took: () => editing.takePart({ ...record, authors: left }),
    };
  }
  return {
    send: () => linked(path, editing.path, authorId),
    took: () => editing.takePart({ ...record, authors: [...now, authorOf(authorId)] }),
  };
}

/** @param {string} path @param {object} of @param {number} authorId */
async function linked(path, of, authorId) {
  try {
    return await call("post", /** @type {any} */ (path), /** @type {any} */ ({ path: of, body: { author_id: authorId } }));
  } catch (error) {
    if (!(error instanceof Failure) || !error.detail.startsWith("Author ")) throw error;
    // It is not the logo or theme that somebody removed.
    void readList("author");
    throw new Failure("invalid", { problems: [{ loc: ["body", "authors"], msg: t("authors.gone", { name: authorName(authorId) }), type: "gone" }] });
  }
}

/** Names of authors who were seen, some of whom may be gone. @type {Map<number, string>} */
const names = new Map();

/** @param {number} authorId @returns {{author_id: number, username?: string}} as far as is known */
function authorOf(authorId) {
  return listOf("author").value.records?.find((author) => author.author_id === authorId) ?? { author_id: authorId };
}

/** @param {number} authorId @returns {boolean} whether somebody has removed the author */
export const isAuthorGone = (authorId) => listOf("author").value.records !== undefined && authorOf(authorId).username === undefined;

/** @param {number} authorId @returns {string} */
export function authorName(authorId) {
  const author = authorOf(authorId);
  if (author.username !== undefined) names.set(authorId, nameOf("author", author));
  return names.get(authorId) ?? t("author.number", { id: String(authorId) });
}

/** Know the authors of a record by their names. @param {any} record */
export function knowAuthors(record) {
  for (const author of record?.authors ?? []) if (author.username) names.set(author.author_id, nameOf("author", author));
}

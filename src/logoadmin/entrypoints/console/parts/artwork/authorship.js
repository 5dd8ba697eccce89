/** Who made a logo or theme, in their order: they are written with it, or all of them at once. */
import { call, Failure } from "../../client.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf, readList, readOne } from "../../records.js";
import { t } from "../../texts.js";

/** @typedef {import("../record/editing.js").Step} Step */

/** @param {Editing} editing of a logo or theme @returns {Step | undefined} the write that gives it the authors of the form */
export function authorStep(editing) {
  const { kind, recordId: id, version } = editing;
  const record = editing.record.value;
  const now = (record.authors ?? []).map((/** @type {{author_id: number}} */ author) => author.author_id);
  const wanted = /** @type {number[]} */ (editing.form.value?.values.value.authors ?? []);
  if (String(now) === String(wanted)) return undefined;
  return {
    send: () => changed({ kind, id, version, set: { author_ids: wanted } }),
    done: () => editing.takePart({ ...record, authors: wanted.map(authorOf) }),
  };
}

/** Create a logo or theme with its authors, in one request. @param {"logo" | "theme"} kind @param {any} values @param {number[]} authors @returns {Promise<Answer>} */
export function createWith(kind, values, authors) {
  if (authors.length === 0) return call("post", /** @type {any} */ (KINDS[kind].list), /** @type {any} */ ({ body: values }));
  /** @param {() => Promise<Answer>} send @returns {Promise<Answer>} the record that it has made */
  const created = async (send) => {
    /** @type {Answer | undefined} */
    let made;
    try {
      const answer = (made = await send());
      return { ...(await readOne(kind, answer.data[0].id)), requestId: answer.requestId };
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // A record that exists is not created twice, even if reading it failed.
      const answer = made;
      const repeat = answer ? async () => answer : error.repeat;
      if (repeat) error.repeat = () => created(repeat);
      throw error;
    }
  };
  return created(() => changed({ kind, create: { ...values, author_ids: authors } }));
}

/** @param {object} change @returns {Promise<Answer>} */
async function changed(change) {
  try {
    return await call("post", "/api/changes", /** @type {any} */ ({ body: { changes: [change] } }));
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    error.problems = atFields(error.problems);
    const gone = /Author (\d+) not found$/.exec(error.detail);
    if (!gone) throw error;
    // It is not the logo or theme that somebody removed.
    void readList("author");
    throw new Failure("invalid", { problems: [{ loc: ["body", "authors"], msg: t("authors.gone", { name: authorName(Number(gone[1])) }), type: "gone" }] });
  }
}

/** Say problems of a change at the fields of its form. @param {Problem[]} problems @returns {Problem[]} */
export function atFields(problems) {
  return problems.map((problem) => {
    const [body, changes, , , name, ...within] = problem.loc;
    if (body !== "body" || changes !== "changes" || name === undefined) return problem;
    return { ...problem, loc: ["body", ...(name === "author_ids" ? ["authors"] : [name, ...within])] };
  });
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

/** Who made a logo or theme, in their order: they are written with it. */
import { call, Failure } from "../../client.js";
import { nameOf } from "../../presentation.js";
import { listOf, readList, readOne } from "../../records.js";
import { t } from "../../texts.js";

/** Write a logo or theme together with its authors. @param {any} values Its own fields. @param {Editing} editing @returns {Promise<Answer> | undefined} the record; nothing where its authors stay, which takes no request of its own */
export function writeWith(values, { kind, recordId: id, version, record, form }) {
  const now = (record.value.authors ?? []).map((/** @type {{author_id: number}} */ author) => author.author_id);
  const authorIds = /** @type {number[]} */ (form.value?.values.value.authors ?? []);
  if (String(now) === String(authorIds)) return undefined;
  const all = { ...values, author_ids: authorIds };
  return written(kind, () => changed(id === undefined ? { kind, create: all } : { kind, id, version, set: all }));
}

/** @param {KindName} kind @param {() => Promise<Answer>} send @returns {Promise<Answer>} the record that it has made or changed */
async function written(kind, send) {
  const failed = (/** @type {any} */ error, /** @type {(() => Promise<Answer>) | undefined} */ repeat) => {
    if (error instanceof Failure && repeat) error.repeat = () => written(kind, repeat);
    throw error;
  };
  const answer = await send().catch((error) => failed(error, error.repeat));
  // The write succeeded even if reading the record fails: it is not repeated, and "nothing was changed" would be wrong.
  const unread = (/** @type {any} */ error) => failed(error.passes ? new Failure("unknown", error) : error, async () => answer);
  return { ...(await readOne(kind, answer.data[0].id).catch(unread)), requestId: answer.requestId };
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

/**
 * Rows of CSV as lines of JSON, which is what an import takes. A line keeps its number: head, line breaks in cells and empty
 * rows leave empty lines, so that problems name the line of the CSV file.
 *
 * @typedef {import("../../client.js").Problem} Problem
 * @typedef {"author" | "logo" | "theme"} CsvKind
 * @typedef {"text" | "number" | "boolean" | "time" | "authors"} CellType
 * @typedef {object} Known
 * @property {Map<string, number>} authors The ids of authors by name.
 * @property {Map<number, any>} records The records that rows name by id, as lines have them.
 */

export const CSV_KINDS = /** @type {const} */ (["author", "logo", "theme"]);

/** @type {Record<string, CellType>} */
const ARTWORK = { id: "number", name: "text", target: "text", active: "boolean", preview_url: "text", author_ids: "authors", custom_css: "text", created_at: "time" };
/** @type {Record<CsvKind, Record<string, CellType>>} */
const FIELDS = {
  author: { id: "number", username: "text", user_id: "number", created_at: "time" },
  logo: ARTWORK,
  theme: ARTWORK,
};
/** What a new record has where no column says otherwise. */
const DEFAULTS = { active: false, author_ids: [], custom_css: "" };

/** No record has a larger id. */
const LAST_ID = 2_147_483_647;

/** Heads of columns, as `normal` leaves them, in both languages. @type {Record<string, string[]>} */
const HEADS = {
  id: ["id", "number", "no", "номер"],
  username: ["username", "name", "author", "fullname", "имя", "автор", "название"],
  name: ["name", "title", "logo", "theme", "название", "имя", "логотип", "тема"],
  user_id: ["userid", "siteuserid", "siteid", "memberid", "user", "member", "idнасайте", "пользователь", "idпользователя"],
  target: ["target", "place", "section", "site", "место", "раздел", "цель"],
  active: ["active", "enabled", "on", "shown", "visible", "активен", "активна", "включен", "включена", "включено"],
  preview_url: ["previewurl", "preview", "picture", "pictureurl", "image", "imageurl", "url", "картинка", "изображение", "ссылка", "адрес"],
  author_ids: ["authorids", "authors", "author", "authorid", "by", "madeby", "авторы", "автор"],
  custom_css: ["customcss", "css", "style", "styles", "стиль", "стили"],
  created_at: ["createdat", "created", "date", "создан", "создано", "создана", "дата"],
};
const YES = ["yes", "true", "1", "y", "x", "on", "да", "истина", "вкл"];
const NO = ["no", "false", "0", "n", "-", "off", "нет", "ложь", "выкл"];

/** @param {string} head */
const normal = (head) => head.toLowerCase().replace(/\(.*?\)/g, "").replaceAll("ё", "е").replace(/[^\p{L}\p{N}]/gu, "");

/** @param {CsvKind} kind @returns {string[]} */
export const fieldsOf = (kind) => Object.keys(FIELDS[kind]);

/** @param {CsvKind} kind @param {string} field @returns {string} as lines have it */
export const fieldInLine = (kind, field) => (field === "id" ? `${kind}_id` : field);

/** @param {CsvKind} kind @param {string[]} columns The fields of the columns. @returns {string[]} the fields that new records lack */
export function lacking(kind, columns) {
  if (columns.includes("id")) return [];
  return fieldsOf(kind).filter((field) => !["id", "created_at"].includes(field) && !(field in DEFAULTS) && !columns.includes(field));
}

/** @param {CsvKind} kind @param {string[]} heads @returns {string[]} the likely field of each column; "" for none */
export function guessedColumns(kind, heads) {
  const left = new Set(fieldsOf(kind));
  return heads.map((head) => {
    const name = normal(head);
    const field = [...left].find((each) => HEADS[each]?.includes(name) || (each === "id" && name === `${kind}id`)) ?? "";
    left.delete(field);
    return field;
  });
}

/** @param {string[]} heads @param {string} fileName @returns {CsvKind} */
export function guessedKind(heads, fileName) {
  const named = /** @type {const} */ (["theme", "logo"]).find((kind) => heads.some((head) => normal(head) === `${kind}id`));
  if (named) return named;
  const isArtwork = guessedColumns("logo", heads).some((field) => ["target", "preview_url", "custom_css", "active"].includes(field));
  if (isArtwork) return /theme|тем/i.test(fileName) ? "theme" : "logo";
  return "author";
}

/**
 * @param {string[]} columns The field of each column; "" for those that are skipped.
 * @param {import("../csv/csv.js").Table} table
 * @returns {number[]} the ids of the records that rows name, from which they take the fields without a column
 */
export function idsIn(columns, { rows }) {
  const at = columns.indexOf("id");
  if (at < 0) return [];
  return rows.map(({ cells }) => (cells[at] ?? "").trim()).filter((cell) => /^\d+$/.test(cell)).map(Number).filter((id) => id <= LAST_ID);
}

/** @param {string[]} columns @param {import("../csv/csv.js").Table} table @returns {boolean} whether authors are named other than by id */
export function namesAuthors(columns, { rows }) {
  const at = columns.indexOf("author_ids");
  return at >= 0 && rows.some(({ cells }) => /[^\d\s,;|]/.test(cells[at] ?? ""));
}

/**
 * @param {CsvKind} kind @param {string[]} columns @param {import("../csv/csv.js").Table} table @param {Known} known
 * @returns {{text: string, problems: Problem[]}} the lines, and what only the CSV file shows
 */
export function linesOfTable(kind, columns, { rows }, known) {
  /** @type {string[]} */
  const lines = [];
  /** @type {Problem[]} */
  const problems = [];
  for (const { line, cells } of rows) {
    if (cells.length > columns.length && cells.slice(columns.length).some((cell) => cell !== "")) problems.push(problem(line, [], "csv_columns", String(columns.length)));
    /** @type {Record<string, any>} */
    const given = {};
    for (const [at, field] of columns.entries()) {
      const cell = cells[at];
      // A row that ends early says nothing about the fields that follow.
      if (field && cell !== undefined) given[fieldInLine(kind, field)] = valueOf(FIELDS[kind][field] ?? "text", cell, known);
    }
    const unknown = (given.author_ids ?? []).filter((/** @type {unknown} */ id) => typeof id === "string");
    for (const name of unknown) problems.push(problem(line, ["author_ids"], "csv_author", name));
    const before = known.records.get(given[`${kind}_id`]);
    const set = Object.entries(given).filter(([, value]) => value !== undefined);
    lines[line - 1] = JSON.stringify({ kind, ...(kind === "author" ? {} : DEFAULTS), ...before, ...Object.fromEntries(set) });
  }
  return { text: Array.from(lines, (line) => line ?? "").join("\n"), problems };
}

/** @param {number} line @param {string[]} field @param {string} type @param {string} msg @returns {Problem} */
export const problem = (line, field, type, msg) => ({ loc: ["line", line, ...field], msg, type });

/**
 * @param {CellType} type @param {string} cell @param {Known} known
 * @returns {unknown} undefined if the record keeps what it has; a text that is not of the type stays, for the service to refuse
 */
function valueOf(type, cell, known) {
  const text = cell.trim();
  if (type === "text") return cell;
  if (type === "authors") return authorsOf(text, known.authors);
  if (text === "") return undefined;
  if (type === "number") return /^\d+$/.test(text) ? Number(text) : text;
  if (type === "time") return timeOf(text);
  const word = text.toLowerCase();
  return YES.includes(word) || (NO.includes(word) ? false : text);
}

/** @param {string} text @returns {number | string} seconds, of a time in UTC or of Unix time */
function timeOf(text) {
  if (/^\d+$/.test(text)) return Number(text);
  const parts = /^(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d(?::\d\d)?)Z?)?$/.exec(text);
  const time = parts ? Date.parse(`${parts[1]}T${parts[2] ?? "00:00"}Z`) / 1000 : NaN;
  return Number.isNaN(time) ? text : time;
}

/**
 * @param {string} text Ids or exact names; several are separated by semicolons, bars or line breaks, or else by commas.
 * @param {Map<string, number>} ids
 * @returns {(number | string)[]} the names that nobody has remain
 */
function authorsOf(text, ids) {
  const one = ids.get(text);
  if (one !== undefined) return [one];
  const parts = text.split(/[;|\n]/);
  const all = parts.length === 1 ? text.split(",") : parts;
  const names = all.map((part) => part.trim()).filter(Boolean);
  return names.map((name) => (/^\d+$/.test(name) ? Number(name) : (ids.get(name) ?? name)));
}

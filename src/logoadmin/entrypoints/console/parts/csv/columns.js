/** The columns of a CSV file of each kind, and how a field is written into a cell. */
import { listOf } from "../../records.js";
import { t } from "../../texts.js";

/** @typedef {import("../../records.js").KindName} KindName */
/** @typedef {{name: string, title: string, cell: (record: any) => string | number}} Column */

const AUTHOR_SEPARATOR = "; ";

/** @param {{author_id: number, username: string}[]} authors @returns {string} by name, as an import reads them */
function authorsCell(authors) {
  // Names that an import would take for several, or for an id, are written as ids.
  const isPlain = authors.every(({ username }) => !/[;\n]|^\s*\d+\s*$/.test(username));
  return authors.map((author) => (isPlain ? author.username : author.author_id)).join(AUTHOR_SEPARATOR);
}

/** @param {number} seconds @returns {string} in UTC, as spreadsheets recognize it */
const timeCell = (seconds) => new Date(seconds * 1000).toISOString().slice(0, 19).replace("T", " ");

/** @param {number} id */
const roleCell = (id) => listOf("role").value.records?.find((role) => role.role_id === id)?.name ?? id;

/** @param {KindName} kind @returns {Column[]} */
export function columnsOf(kind) {
  const field = (/** @type {string} */ name, /** @type {string} */ title, cell = (/** @type {any} */ record) => record[name] ?? "") => ({ name, title, cell });
  const id = field(`${kind}_id`, t("csv.id"));
  const userId = field("user_id", t("field.user_id"));
  const created = field("created_at", t("csv.created"), (record) => timeCell(record.created_at));
  if (kind === "author") return [id, field("username", t("field.username")), userId, created];
  if (kind === "user") {
    return [userId, field("username", t("field.username")), field("role_id", t("field.role_id"), (record) => roleCell(record.role_id)), field("avatar", t("field.avatar")), created];
  }
  if (kind === "role") return [id, field("name", t("field.name")), field("scope", t("field.scope"), (record) => record.scope.join(" ")), created];
  return [
    id,
    field("name", t("field.name")),
    field("target", t("field.target")),
    field("active", t("field.active"), (record) => t(record.active ? "yes" : "no")),
    field("preview_url", t("field.preview_url")),
    field("author_ids", t("field.authors"), (record) => authorsCell(record.authors)),
    field("custom_css", t("field.custom_css")),
    created,
  ];
}

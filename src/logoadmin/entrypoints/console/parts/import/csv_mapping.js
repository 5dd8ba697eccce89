/** A CSV file on its way to records: which kind they are, and which field is in which column. */
import { batch, signal } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { tableOf } from "../csv/csv.js";
import { pagesOf, recordsById } from "../lists/pages.js";
import { CSV_KINDS, fieldInLine, guessedColumns, guessedKind, idsIn, linesOfTable, namesAuthors, problem } from "./csv_records.js";
import { encodingOf } from "./file_kind.js";
import { lineOf } from "./record_lines.js";

/** @typedef {import("./csv_records.js").CsvKind} CsvKind */
/** @typedef {import("../../client.js").Problem} Problem */

export class CsvMapping {
  /** @param {string} name @param {string} text @param {string} encoding */
  constructor(name, text, encoding) {
    this.name = name;
    this.encoding = encoding;
    this.table = tableOf(text);
    const kind = guessedKind(this.table.head, name);
    this.kind = signal(/** @type {CsvKind} */ (may(KINDS[kind].write) ? kind : (CSV_KINDS.find((each) => may(KINDS[each].write)) ?? kind)));
    /** The field of each column; "" for those that are skipped. */
    this.columns = signal(guessedColumns(this.kind.value, this.table.head));
  }

  /** @param {Blob} file @param {string} name @param {string} encoding What its beginning says. */
  static async of(file, name, encoding) {
    const found = encoding === "utf-8" ? await encodingOf(file) : encoding;
    return new CsvMapping(name, await textIn(file, found), found);
  }

  /** @param {CsvKind} kind */
  choose(kind) {
    batch(() => {
      this.kind.value = kind;
      this.columns.value = guessedColumns(kind, this.table.head);
    });
  }

  /** @param {number} at The column. @param {string} field No other column has it from now on. */
  assign(at, field) {
    this.columns.value = this.columns.value.map((each, column) => (column === at ? field : each === field ? "" : each));
  }

  /** Read the table again from a text that was edited; if its columns are other ones, they are guessed again. @param {string} text */
  edit(text) {
    const heads = this.table.head.join("\n");
    this.table = tableOf(text);
    if (this.table.head.join("\n") !== heads) this.columns.value = guessedColumns(this.kind.value, this.table.head);
  }

  /** @returns {Record<string, string>} the heads of the columns by their fields */
  get heads() {
    return Object.fromEntries(this.columns.value.map((field, at) => [fieldInLine(this.kind.value, field), this.table.head[at] ?? ""]));
  }

  /**
   * @param {AbortSignal} [stop]
   * @returns {Promise<{text: string, problems: Problem[]}>} lines of JSON
   * @throws {import("../../client.js").Failure}
   */
  async lines(stop) {
    const { table } = this;
    const [kind, columns] = [this.kind.value, this.columns.value];
    if (table.unclosed) return { text: "", problems: [problem(table.unclosed, [], "csv_quotes", "")] };
    /** @type {Map<string, number>} */
    const authors = new Map();
    if (namesAuthors(columns, table)) {
      for await (const page of pagesOf("author", {}, stop)) for (const each of page) authors.set(each.username, each.author_id);
    }
    const found = await recordsById(kind, idsIn(columns, table), { stop });
    const records = new Map([...found.records].map(([id, record]) => [id, lineOf(kind, record)]));
    return linesOfTable(kind, columns, table, { authors, records });
  }
}

/** @param {Blob} file @param {string} encoding */
export const textIn = async (file, encoding) => new TextDecoder(encoding).decode(await file.arrayBuffer());

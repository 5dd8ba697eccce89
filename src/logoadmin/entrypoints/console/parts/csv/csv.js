/** CSV as spreadsheets read and write it. */
import { language } from "../../texts.js";
import { parse, unparse } from "../../vendor/csv.js";

/** Where numbers have a decimal comma, spreadsheets expect semicolons. */
const SEPARATORS = { en: ",", ru: ";" };

/**
 * How a cell begins that spreadsheets would execute as a formula (OWASP, "CSV Injection"). Such a cell gets an apostrophe
 * before it; one that has an apostrophe there already gets another, so that `plain` restores every text.
 */
const FORMULA = /^'*[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;

/** @param {string} cell @returns {string} the text without the apostrophe that protects from formulas */
export const plain = (cell) => (cell.startsWith("'") && FORMULA.test(cell) ? cell.slice(1) : cell);

/**
 * @param {string[]} head
 * @param {(string | number)[][]} rows
 * @returns {Blob} separated as spreadsheets in the language of the console expect, with a byte order mark, without which Excel takes the text for another encoding
 */
export function csvFile(head, rows) {
  const text = unparse({ fields: head, data: rows }, { delimiter: SEPARATORS[language.value], escapeFormulae: FORMULA });
  return new Blob(["\ufeff", text.trimEnd(), "\r\n"], { type: "text/csv;charset=utf-8" });
}

/**
 * @typedef {object} Row
 * @property {number} line Where it begins, from 1.
 * @property {string[]} cells
 * @typedef {object} Table
 * @property {string[]} head
 * @property {Row[]} rows Without empty ones.
 * @property {number} unclosed The line of a quoted cell without an end; 0 where there is none.
 */

/** @param {string} text Separated by commas, semicolons or tabs, whichever fits. @returns {Table} */
export function tableOf(text) {
  const lines = text.replace(/^\ufeff/, "").replace(/\r\n?/g, "\n");
  // Some spreadsheets name the separator in a line of its own.
  const named = /^sep=([,;\t])\n/i.exec(lines)?.[1];
  const how = named === undefined ? { delimitersToGuess: [",", ";", "\t"] } : { delimiter: named };
  const { data, errors } = /** @type {{data: string[][], errors: {type: string, row?: number}[]}} */ (parse(lines, { newline: "\n", ...how }));
  const rows = [];
  let line = 1;
  for (const cells of data) {
    rows.push({ line, cells: cells.map(plain) });
    // Cells in quotes may have several lines.
    line += 1 + cells.reduce((count, cell) => count + cell.split("\n").length - 1, 0);
  }
  const full = rows.slice(named === undefined ? 0 : 1).filter(({ cells }) => cells.some((cell) => cell.trim() !== ""));
  const broken = errors.find(({ type }) => type === "Quotes");
  return {
    head: full[0]?.cells.map((cell) => cell.trim()) ?? [],
    rows: full.slice(1),
    unclosed: broken ? (rows[broken.row ?? 0]?.line ?? 1) : 0,
  };
}

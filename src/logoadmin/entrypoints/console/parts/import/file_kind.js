/** What a file is, judged by how it begins: its name may say anything. */
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";

/** The number of bytes inspected. */
const BEGINNING = 65_536;
/** No text has bytes below it. */
const TAB = 9;
/** How a ZIP archive begins, which workbooks are. */
const ZIP = [0x50, 0x4b, 0x03, 0x04];
/** What CSV files have. */
export const CSV_KINDS = /** @type {const} */ (["logo", "theme", "author"]);
/** Encodings of spreadsheets, by names that browsers and the service share. */
export const ENCODINGS = /** @type {const} */ (["utf-8", "windows-1251", "windows-1250", "windows-1252", "utf-16le", "utf-16be"]);

/** @typedef {typeof CSV_KINDS[number]} CsvKind */

/** @param {Blob} file @param {string} name @returns {Promise<{is: "lines"} | {is: "csv", csv: import("./importing.js").Csv} | {is: "refused", words: string}>} */
export async function kindOfFile(file, name) {
  const bytes = new Uint8Array(await file.slice(0, BEGINNING).arrayBuffer());
  const encoding = encodingOf(bytes);
  if (!encoding.startsWith("utf-16") && bytes.some((byte) => byte < TAB)) {
    const isWorkbook = ZIP.every((byte, at) => bytes[at] === byte) && /\.(xlsx|ods|numbers)$/i.test(name);
    return { is: "refused", words: t(isWorkbook ? "import.workbook" : "import.binary") };
  }
  const text = new TextDecoder(encoding).decode(bytes).trimStart();
  const [head = ""] = text.split(/[\r\n]/, 1);
  if (text.startsWith("{") || (text === "" && file.size > BEGINNING)) return { is: "lines" };
  if (text.startsWith("[")) return { is: "refused", words: t("import.array") };
  if (!/[,;\t]/.test(head)) return { is: "refused", words: t("import.unknown") };
  return { is: "csv", csv: { kind: likelyKind(`${head} ${name}`.toLowerCase()), encoding } };
}

/** @param {Uint8Array} bytes @returns {string} the likely encoding, by a mark or by what UTF-8 does not allow */
function encodingOf(bytes) {
  const [first, second] = bytes;
  if (first === 0xff && second === 0xfe) return "utf-16le";
  if (first === 0xfe && second === 0xff) return "utf-16be";
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes, { stream: true });
    return "utf-8";
  } catch {
    // That of spreadsheets on Windows, in the language of the system.
    return navigator.languages.some((tag) => tag.startsWith("ru")) ? "windows-1251" : "windows-1252";
  }
}

/** @returns {CsvKind[]} those that the person may change */
export const openKinds = () => CSV_KINDS.filter((kind) => may(KINDS[kind].write));

/** @param {string} words The head and the name of the file. @returns {CsvKind} */
function likelyKind(words) {
  const open = openKinds();
  return open.find((kind) => words.includes(`${kind}_id`)) ?? open.find((kind) => words.includes(kind)) ?? open[0] ?? "logo";
}

/** What a file is, judged by how it begins: its name may say anything. */
import { t } from "../../texts.js";

/** The number of bytes inspected. */
const BEGINNING = 65_536;
/** No text has bytes below it. */
const TAB = 9;
/** How a ZIP archive begins, which workbooks are. */
const ZIP = [0x50, 0x4b, 0x03, 0x04];

/**
 * @param {Blob} file @param {string} name
 * @returns {Promise<{is: "lines"} | {is: "csv", encoding: string} | {is: "refused", words: string}>}
 */
export async function kindOfFile(file, name) {
  const bytes = new Uint8Array(await file.slice(0, BEGINNING).arrayBuffer());
  const encoding = utf16(bytes) ?? "utf-8";
  if (encoding === "utf-8" && bytes.some((byte) => byte < TAB)) {
    const isWorkbook = ZIP.every((byte, at) => bytes[at] === byte) && /\.(xlsx|ods|numbers)$/i.test(name);
    return { is: "refused", words: t(isWorkbook ? "import.workbook" : "import.binary") };
  }
  const text = new TextDecoder(encoding).decode(bytes).trimStart();
  const [head = ""] = text.split(/[\r\n]/, 1);
  if (text.startsWith("{") || (text === "" && file.size > BEGINNING)) return { is: "lines" };
  if (text.startsWith("[")) return { is: "refused", words: t("import.array") };
  return /[,;\t]/.test(head) ? { is: "csv", encoding } : { is: "refused", words: t("import.unknown") };
}

/** @param {Uint8Array} bytes @returns {string | undefined} the encoding, if the byte order mark is that of UTF-16 */
function utf16([first, second]) {
  if (first === 0xff && second === 0xfe) return "utf-16le";
  return first === 0xfe && second === 0xff ? "utf-16be" : undefined;
}

/** @param {Blob} file @returns {Promise<string>} the likely encoding of a text without NUL */
export async function encodingOf(file) {
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(await file.arrayBuffer());
    return "utf-8";
  } catch {
    // That of spreadsheets on Windows, in the language of the system.
    return navigator.languages.some((tag) => tag.startsWith("ru")) ? "windows-1251" : "windows-1252";
  }
}

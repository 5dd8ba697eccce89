/**
 * An import, from the choice of the file to its undo: a dry run first, which reports the bad lines.
 *
 * @typedef {Record<string, {created: number, amended: number, unchanged: number}>} Counts
 * @typedef {{kind: CsvKind, encoding: string}} Csv How the service reads a CSV file.
 * @typedef {object} Source
 * @property {string} name
 * @property {Blob} file
 * @property {Csv} [csv] None if the file is JSON Lines.
 * @typedef {{is: "empty"} | {is: "chosen"} | {is: "sending", dry: boolean, sent: number, whole: number}
 *   | {is: "bad", problems: Problem[]} | {is: "refused", words: string, until: number, lasts: boolean, counted: (left: number) => string}
 *   | {is: "ready", counts: Counts} | {is: "done", counts: Counts, requestId: string} | {is: "undone"}} State
 */
import { batch, signal } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { busyWords, describe, dismiss, sayDone, sayFailure, wordsOfWait } from "../../notices.js";
import { KINDS, readList } from "../../records.js";
import { may } from "../../session.js";
import { enumeration, t } from "../../texts.js";

/** As much as the service takes. */
const MOST = 64 * 1024 * 1024;

/** @param {Counts} counts @returns {number} how many records it would touch */
export const touched = (counts) => Object.values(counts).reduce((sum, { created, amended }) => sum + created + amended, 0);

export class Import {
  source = signal(/** @type {Source | undefined} */ (undefined));
  state = signal(/** @type {State} */ ({ is: "empty" }));
  /** @type {AbortController | undefined} */
  #stop;
  /** What offers to ask again for an answer that was lost. @type {number | undefined} */
  #offer;

  /** Lines of JSON are tried at once; how CSV is to be read is asked before. @param {File} file */
  async choose(file) {
    this.leave();
    const { name } = file;
    batch(() => {
      this.source.value = { name, file };
      this.state.value = { is: "chosen" };
    });
    if (file.size > MOST) return this.#refuse(t("import.tooLarge"), { lasts: true });
    try {
      const found = await kindOfFile(file, name);
      // Another file may have been chosen meanwhile.
      if (this.source.value?.file !== file) return;
      if (found.words) return this.#refuse(found.words, { lasts: true });
      if (found.csv) return void (this.source.value = { name, file, csv: found.csv });
    } catch {
      return this.#refuse(t("import.unreadable"));
    }
    return this.send(true);
  }

  /** @param {Partial<Csv>} changed */
  read(changed) {
    this.leave();
    const { csv, ...source } = /** @type {Source} */ (this.source.value);
    batch(() => {
      this.source.value = { ...source, csv: { .../** @type {Csv} */ (csv), ...changed } };
      this.state.value = { is: "chosen" };
    });
  }

  /** @param {boolean} dry */
  async send(dry) {
    this.leave();
    const { file, csv } = /** @type {Source} */ (this.source.value);
    const { signal: stop } = (this.#stop = new AbortController());
    const progress = (/** @type {number} */ sent, /** @type {number} */ whole) => {
      this.state.value = { is: "sending", dry, sent, whole };
    };
    const query = { ...(dry ? { dry_run: true } : {}), ...(csv ? { kind: csv.kind, charset: csv.encoding } : {}) };
    const type = csv ? { type: "text/csv" } : {};
    return this.#write(dry, () => call("post", "/api/import", { query, file, ...type, progress, signal: stop }));
  }

  /** @param {boolean} dry @param {() => Promise<Answer>} act */
  async #write(dry, act) {
    const { size } = /** @type {Source} */ (this.source.value).file;
    this.state.value = { is: "sending", dry, sent: 0, whole: size };
    try {
      const { data, requestId } = await act();
      if (dry) this.state.value = { is: "ready", counts: data };
      else this.#done(data, requestId);
    } catch (error) {
      if (this.#stop?.signal.aborted) this.state.value = { is: "chosen" };
      else if (error instanceof Failure) this.#failed(error, dry);
      else throw error;
    }
  }

  /** Cancel the upload; a file that was not sent completely is not imported. */
  stop() {
    this.#stop?.abort();
  }

  /** @param {Failure} failure @param {boolean} dry */
  #failed(failure, dry) {
    const { kind, problems, repeat } = failure;
    if (kind === "invalid" && problems.every(({ loc }) => loc[0] === "line")) this.state.value = { is: "bad", problems };
    else if (kind === "forbidden") this.#refuse(t("import.forbidden", { kinds: closed() }));
    // A file that the service would take was refused by what stands before it.
    else if (kind === "tooLarge") this.#refuse(t("import.tooLarge.here"));
    else if (dry && repeat) this.#refuse(t("import.away"));
    else {
      this.#refuse(describe(failure), { until: failure.until, counted: wordsOfWait(failure) });
      if (repeat) this.#offer = sayFailure(failure, () => void this.#write(dry, repeat));
    }
  }

  /** @param {string} words @param {{until?: number, lasts?: boolean, counted?: (left: number) => string}} [more] Before when it is too soon to try again, or whether that would never help. */
  #refuse(words, { until = 0, lasts = false, counted = busyWords } = {}) {
    this.state.value = { is: "refused", words, until, lasts, counted };
  }

  /** The offer only applies to the file that was sent, on this page. */
  leave() {
    dismiss(this.#offer);
  }

  /** @param {Counts} counts @param {string} requestId */
  #done(counts, requestId) {
    this.state.value = { is: "done", counts, requestId };
    this.#readAgain(counts);
    sayDone(t("import.done", { n: touched(counts) }), [requestId], () => this.undone(counts));
  }

  /** @param {Counts} counts */
  undone(counts) {
    this.state.value = { is: "undone" };
    this.#readAgain(counts);
  }

  /** @param {Counts} counts */
  #readAgain(counts) {
    for (const [kind, { created, amended }] of Object.entries(counts)) {
      if (created + amended > 0 && kind in KINDS) void readList(/** @type {KindName} */ (kind));
    }
  }
}

/** @returns {string} the kinds that the person may not change */
const closed = () => enumeration(Object.entries(KINDS).filter(([, { write }]) => !may(write)).map(([kind]) => t(/** @type {any} */ (`${kind}s.title`))));

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

/** @param {Blob} file @param {string} name @returns {Promise<{csv?: Csv, words?: string}>} how CSV is to be read, or why it is refused; neither for lines of JSON */
async function kindOfFile(file, name) {
  const bytes = new Uint8Array(await file.slice(0, BEGINNING).arrayBuffer());
  const encoding = encodingOf(bytes);
  if (!encoding.startsWith("utf-16") && bytes.some((byte) => byte < TAB)) {
    const isWorkbook = ZIP.every((byte, at) => bytes[at] === byte) && /\.(xlsx|ods|numbers)$/i.test(name);
    return { words: t(isWorkbook ? "import.workbook" : "import.binary") };
  }
  const text = new TextDecoder(encoding).decode(bytes).trimStart();
  const [head = ""] = text.split(/[\r\n]/, 1);
  if (text.startsWith("{") || (text === "" && file.size > BEGINNING)) return {};
  if (text.startsWith("[")) return { words: t("import.array") };
  if (!/[,;\t]/.test(head)) return { words: t("import.unknown") };
  return { csv: { kind: likelyKind(`${head} ${name}`.toLowerCase()), encoding } };
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

/**
 * An import, from the file to its undoing: it is tried first, and what is wrong with it can be mended.
 *
 * @typedef {Record<string, {created: number, amended: number, unchanged: number}>} Counts
 * @typedef {object} Source
 * @property {string} name
 * @property {Blob} file
 * @property {string | undefined} text What can be mended in place; none where it is too long for that.
 * @property {import("./csv_mapping.js").CsvMapping} [csv] How its columns are read, if it is CSV.
 * @typedef {{is: "empty"} | {is: "chosen"} | {is: "mapping"} | {is: "sending", dry: boolean, sent: number, whole: number}
 *   | {is: "bad", problems: import("../../client.js").Problem[]} | {is: "refused", words: string, until: number, lasts: boolean, counted: (left: number) => string}
 *   | {is: "ready", counts: Counts, lines: Blob} | {is: "done", counts: Counts, requestId: string} | {is: "undone"}} State
 */
import { batch, signal } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { busyWords, describe, dismiss, sayDone, sayFailure, wordsOfWait } from "../../notices.js";
import { KINDS, readList } from "../../records.js";
import { may } from "../../session.js";
import { enumeration, t } from "../../texts.js";
import { kindOfFile } from "./file_kind.js";

/** @typedef {import("../../records.js").KindName} KindName */

const MB = 1024 * 1024;
/** As much as the service takes. */
export const MOST = 64 * MB;
/** More CSV than that would make the page wait while it is read. */
const MOST_CSV = 16 * MB;
/** A text field is quick with so much, and nobody mends more by hand. */
const EDITABLE = 256 * 1024;

/** @param {Counts} counts @returns {number} how many records it would touch */
export const touched = (counts) => Object.values(counts).reduce((sum, { created, amended }) => sum + created + amended, 0);

export class Import {
  source = signal(/** @type {Source | undefined} */ (undefined));
  state = signal(/** @type {State} */ ({ is: "empty" }));
  /** Whether the text was changed since it was tried. */
  isEdited = signal(false);
  /** @type {AbortController | undefined} */
  #stop;
  /** The lines that were checked, which are those that are imported. */
  #lines = new Blob([]);
  /** What is wrong with them that only their CSV file shows. @type {import("../../client.js").Problem[]} */
  #known = [];
  /** What offers to ask again for an answer that was lost. @type {number | undefined} */
  #offer;

  /** @param {File} file */
  async choose(file) {
    this.leave();
    batch(() => {
      this.source.value = { name: file.name, file, text: undefined };
      this.state.value = { is: "chosen" };
    });
    if (file.size > MOST) return this.#refuse(t("import.tooLarge"), { lasts: true });
    return this.#begin();
  }

  /** Judge what was chosen or pasted: lines are checked at once, the columns of CSV are matched first. */
  async #begin() {
    const { name, file } = /** @type {Source} */ (this.source.value);
    try {
      const found = await kindOfFile(file, name);
      if (this.#isReplaced(file)) return;
      if (found.is === "refused") return this.#refuse(found.words, { lasts: true });
      if (found.is === "csv") return await this.#map(found.encoding);
      const text = file.size <= EDITABLE ? await file.text() : undefined;
      if (this.#isReplaced(file)) return;
      this.source.value = { name, file, text };
    } catch {
      return this.#refuse(t("import.unreadable"));
    }
    return this.#check();
  }

  /** @param {string} encoding */
  async #map(encoding) {
    const { name, file } = /** @type {Source} */ (this.source.value);
    if (file.size > MOST_CSV) return this.#refuse(t("import.tooLarge.csv"), { lasts: true });
    const { CsvMapping, textIn } = await import("./csv_mapping.js");
    const csv = await CsvMapping.of(file, name, encoding);
    const text = file.size <= EDITABLE ? await textIn(file, csv.encoding) : undefined;
    if (this.#isReplaced(file)) return;
    // What is shown and mended is UTF-8 from here on.
    const shown = text === undefined ? file : new Blob([text]);
    batch(() => {
      this.source.value = { name, file: shown, text, csv };
      this.state.value = { is: "mapping" };
    });
  }

  /** Whether another file was chosen while this one was read. @param {Blob} file */
  #isReplaced(file) {
    return this.source.value?.file !== file;
  }

  /** Go back to the columns. */
  match() {
    this.leave();
    this.state.value = { is: "mapping" };
  }

  /** Begin with an empty text, to paste into. */
  paste() {
    this.source.value = { name: "", file: new Blob([]), text: "" };
    this.state.value = { is: "chosen" };
  }

  /** @param {string} text */
  edit(text) {
    this.leave();
    const { name = "", csv } = this.source.value ?? {};
    this.source.value = { name, file: new Blob([text]), text, ...(csv ? { csv } : {}) };
    this.isEdited.value = true;
    // What is wrong stays in view while it is mended.
    if (this.state.value.is !== "bad") this.state.value = { is: "chosen" };
  }

  /** Check the chosen or edited lines; without `dry`, import the checked ones. @param {boolean} dry */
  async send(dry) {
    if (!dry) return this.#send(false);
    const { csv, text } = /** @type {Source} */ (this.source.value);
    if (!csv) return this.#begin();
    if (text !== undefined && this.isEdited.value) csv.edit(text);
    return this.#check();
  }

  /** Try the lines; those of CSV are made first. */
  async #check() {
    const { file, csv } = /** @type {Source} */ (this.source.value);
    this.isEdited.value = false;
    this.#known = [];
    this.#lines = file;
    if (csv) {
      const { signal: stop } = (this.#stop = new AbortController());
      const made = await this.#await(true, () => csv.lines(stop));
      if (!made) return;
      this.#lines = new Blob([made.text]);
      this.#known = made.problems;
      if (csv.table.unclosed) return this.#show(made.problems);
    }
    return this.#send(true);
  }

  /** @param {boolean} dry */
  async #send(dry) {
    const file = this.#lines;
    try {
      // A file that was changed on the disk since it was chosen cannot be read any more.
      await file.slice(0, 1).arrayBuffer();
    } catch {
      return this.#refuse(t("import.unreadable"));
    }
    const { signal: stop } = (this.#stop = new AbortController());
    const progress = (/** @type {number} */ sent, /** @type {number} */ whole) => {
      this.state.value = { is: "sending", dry, sent, whole };
    };
    const query = dry ? { dry_run: true } : {};
    return this.#write(dry, () => call("post", "/api/import", { query, file, progress, signal: stop }));
  }

  /** @param {boolean} dry @param {() => Promise<import("../../client.js").Answer<any>>} act */
  async #write(dry, act) {
    const answer = await this.#await(dry, act);
    if (!answer) return;
    if (!dry) this.#done(answer.data, answer.requestId);
    // The service takes a row with too many cells, of which only some were sent.
    else if (this.#known.length > 0) this.#show(this.#known);
    else this.state.value = { is: "ready", counts: answer.data, lines: this.#lines };
  }

  /**
   * @template T
   * @param {boolean} dry @param {() => Promise<T>} act
   * @returns {Promise<T | undefined>} none if it failed, which is shown
   */
  async #await(dry, act) {
    this.state.value = { is: "sending", dry, sent: 0, whole: this.#lines.size };
    try {
      return await act();
    } catch (error) {
      if (this.#stop?.signal.aborted) this.state.value = { is: "chosen" };
      else if (error instanceof Failure) this.#failed(error, dry);
      else throw error;
      return undefined;
    }
  }

  /** @param {import("../../client.js").Problem[]} problems */
  #show(problems) {
    this.state.value = { is: "bad", problems };
  }

  /** Cancel the upload; a file that was not sent completely is not imported. */
  stop() {
    this.#stop?.abort();
  }

  /** @param {Failure} failure @param {boolean} dry */
  #failed(failure, dry) {
    const { kind, problems, repeat } = failure;
    if (kind === "invalid" && problems.every(({ loc }) => loc[0] === "line")) this.#show([...this.#known, ...problems.filter((each) => !this.#explains(each))]);
    else if (kind === "forbidden") this.#refuse(t("import.forbidden", { kinds: closed() }));
    // A file that the service would take was refused by what stands before it.
    else if (kind === "tooLarge") this.#refuse(t("import.tooLarge.here"));
    else if (dry && repeat) this.#refuse(t("import.away"));
    else {
      this.#refuse(describe(failure), { until: failure.until, counted: wordsOfWait(failure) });
      if (repeat) this.#offer = sayFailure(failure, () => void this.#write(dry, repeat));
    }
  }

  /** Whether better words are known for a problem. @param {import("../../client.js").Problem} problem */
  #explains({ loc: [, line, field] }) {
    return this.#known.some(({ loc }) => loc[1] === line && loc[2] === field);
  }

  /**
   * @param {string} words
   * @param {{until?: number, lasts?: boolean, counted?: (left: number) => string}} [more] Before when it is too soon to try again, or whether that would never help.
   */
  #refuse(words, { until = 0, lasts = false, counted = busyWords } = {}) {
    this.state.value = { is: "refused", words, until, lasts, counted };
  }

  /** The offer only applies to the file that was sent, on this page. */
  leave() {
    if (this.#offer !== undefined) dismiss(this.#offer);
    this.#offer = undefined;
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
const closed = () => enumeration(Object.entries(KINDS).filter(([, { write }]) => !may(write)).map(([kind]) => t(/** @type {any} */ (`kinds.${kind}`))));

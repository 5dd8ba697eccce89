/**
 * An import, from the file to its undoing: it is tried first, and what is wrong with it can be mended.
 *
 * @typedef {Record<string, {created: number, amended: number, unchanged: number}>} Counts
 * @typedef {object} Source
 * @property {string} name
 * @property {Blob} file
 * @property {string | undefined} text What can be mended in place; none where it is too long for that.
 * @typedef {{is: "empty"} | {is: "chosen"} | {is: "sending", dry: boolean, sent: number, whole: number}
 *   | {is: "bad", problems: import("../../client.js").Problem[]} | {is: "refused", words: string, until: number, lasts: boolean, counted: (left: number) => string}
 *   | {is: "ready", counts: Counts} | {is: "done", counts: Counts, requestId: string} | {is: "undone"}} State
 */
import { signal } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { busyWords, describe, dismiss, sayDone, sayFailure, wordsOfWait } from "../../notices.js";
import { KINDS, readList } from "../../records.js";
import { may } from "../../session.js";
import { enumeration, t } from "../../texts.js";

/** @typedef {import("../../records.js").KindName} KindName */

/** As much as the service takes. */
export const MOST = 64 * 1024 * 1024;
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
  /** What offers to ask again for an answer that was lost. @type {number | undefined} */
  #offer;

  /** @param {File} file */
  async choose(file) {
    this.leave();
    this.source.value = { name: file.name, file, text: undefined };
    if (file.size > MOST) return this.#refuse(t("import.tooLarge"), { lasts: true });
    try {
      const text = file.size <= EDITABLE ? await file.text() : undefined;
      this.source.value = { name: file.name, file, text };
    } catch {
      return this.#refuse(t("import.unreadable"));
    }
    return this.send(true);
  }

  /** Begin with an empty text, to paste into. */
  paste() {
    this.source.value = { name: "", file: new Blob([]), text: "" };
    this.state.value = { is: "chosen" };
  }

  /** @param {string} text */
  edit(text) {
    this.leave();
    const name = this.source.value?.name ?? "";
    this.source.value = { name, file: new Blob([text], { type: "application/jsonl" }), text };
    this.isEdited.value = true;
    // What is wrong stays in view while it is mended.
    if (this.state.value.is !== "bad") this.state.value = { is: "chosen" };
  }

  /** @param {boolean} dry */
  async send(dry) {
    const { file } = /** @type {Source} */ (this.source.value);
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
    this.isEdited.value = false;
    const query = dry ? { dry_run: true } : {};
    return this.#await(dry, () => call("post", "/api/import", { query, file, progress, signal: stop }));
  }

  /** @param {boolean} dry @param {() => Promise<import("../../client.js").Answer<any>>} act */
  async #await(dry, act) {
    this.state.value = { is: "sending", dry, sent: 0, whole: this.source.value?.file.size ?? 0 };
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
      if (repeat) this.#offer = sayFailure(failure, () => void this.#await(dry, repeat));
    }
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

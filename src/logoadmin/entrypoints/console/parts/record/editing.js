/**
 * A record in an editing form: reads and writes it, and handles concurrent changes and removal by others. Unsaved input
 * is never overwritten by a read.
 *
 * @typedef {import("../../form.js").Interface} Interface
 * @typedef {{send: () => Promise<Answer>, done: (answer: Answer) => void}} Step A write that saving takes.
 * @typedef {object} KindRules How a kind differs from the others.
 * @property {(described: Interface) => Field[]} [fields] Where they are not those of the operation.
 * @property {(values: any, editing: Editing) => Promise<Answer> | undefined} [write] Another request than the usual one, if there is one.
 * @property {(failure: Failure, record: any) => string | undefined} [explain] A better text for a refusal.
 * @property {(record: any) => void} [created] Where to go with a new one.
 * @property {(stop: AbortSignal) => Promise<any>} [propose] What the fields of a new one begin with, as if it were empty.
 * @property {number} [copyOf] The id of the record that a new one begins as a copy of.
 */
import { batch, signal } from "../../vendor/preact.js";
import { call, Failure, returned, versionIn } from "../../client.js";
import { fieldsOf, FormState, theInterface } from "../../form.js";
import { describe, dismiss, say, sayDone, sayFailure } from "../../notices.js";
import { nameOf, presentation } from "../../presentation.js";
import { KINDS, readList, readOne, replaceMany, upsert } from "../../records.js";
import { t } from "../../texts.js";

export class Editing {
  /** The write whose answer was lost: before anything else, it is asked for again. @type {Step | undefined} */
  #lost;
  /** Of the writes since the last save that ended well: one undo is for all of them. @type {string[]} */
  #requestIds = [];
  #etag = "";
  /** The field that this page wrote beside the form: its changes need no comparison. */
  #own = "";
  /** What says that saving failed, and offers it again. @type {number | undefined} */
  #offer;
  /** Whether the person went elsewhere. */
  #isLeft = false;
  #reading = new AbortController();

  /** @param {KindName} kind @param {number | undefined} recordId None for a new one. @param {KindRules} rules */
  constructor(kind, recordId, rules) {
    this.kind = kind;
    this.recordId = recordId;
    this.isNew = recordId === undefined;
    this.rules = rules;
    /** As it was read or written last. */
    this.record = signal(/** @type {any} */ (undefined));
    this.form = signal(/** @type {FormState | undefined} */ (undefined));
    /** Why it could not be read. */
    this.failure = signal(/** @type {Failure | undefined} */ (undefined));
    this.complaint = signal("");
    this.isBusy = signal(false);
    this.isSaving = signal(false);
    /** What somebody else wrote while this was typed, until it is looked at. @type {Signal<Answer | undefined>} */
    this.newer = signal(/** @type {Answer | undefined} */ (undefined));
    /** The same while it is looked at, field by field. @type {Signal<Answer | undefined>} */
    this.theirs = signal(/** @type {Answer | undefined} */ (undefined));
    /** Whether somebody removed it. */
    this.isGone = signal(false);
  }

  get path() {
    return { [KINDS[this.kind].id]: this.recordId };
  }

  /** @returns {number} of the record as it was read or written last */
  get version() {
    return versionIn(this.#etag);
  }

  get name() {
    return nameOf(this.kind, this.record.value);
  }

  /** Read the record, if it is new or has changed. */
  async load() {
    try {
      const stop = this.#reading.signal;
      const proposed = this.isNew && !this.form.value && this.rules.propose?.(stop);
      const [described, answer, copied, first] = await Promise.all([theInterface(), this.#read(this.#etag, stop), this.#readOriginal(stop), proposed]);
      batch(() => {
        if (!this.form.value) this.form.value = this.#newForm(described, { ...answer.data, ...first }, copied);
        if (!answer.unmodified) this.#meet(answer);
        this.isGone.value = false;
        this.failure.value = undefined;
      });
    } catch (error) {
      if (this.#reading.signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      if (error.kind === "missing" && !this.isNew) this.#vanished();
      else this.failure.value = error;
    }
  }

  /** @param {string} [etag] @param {AbortSignal} [signal] @returns {Promise<Answer>} */
  async #read(etag, signal) {
    if (this.recordId === undefined) return { data: {}, etag: "", requestId: "", next: "", unmodified: false };
    return readOne(this.kind, this.recordId, { ...(etag && !this.isGone.value ? { ifNoneMatch: etag } : {}), ...(signal ? { signal } : {}) });
  }

  /** @param {AbortSignal} stop @returns {Promise<any>} the record that a new one begins as a copy of, if there is one */
  async #readOriginal(stop) {
    const { copyOf } = this.rules;
    if (!this.isNew || copyOf === undefined || this.form.value) return undefined;
    return (await readOne(this.kind, copyOf, { signal: stop })).data;
  }

  /** @param {Interface} described @param {any} record @param {any} copied */
  #newForm(described, record, copied) {
    const operation = `${this.recordId === undefined ? "create" : "amend"}_${this.kind}`;
    const form = new FormState(this.rules.fields?.(described) ?? fieldsOf(described, operation, this.kind), record, this.kind);
    if (copied) form.fill(copied, presentation[this.kind].name);
    return form;
  }

  /** Accept the record that was read, unless it would overwrite unsaved input. @param {Answer} answer */
  #meet(answer) {
    const form = /** @type {FormState} */ (this.form.value);
    const isTyped = form.isChanged.value && form.against(answer.data).some((each) => each.isTheirs && each.field.name !== this.#own);
    if (isTyped && !this.isGone.value) this.newer.value = answer;
    else this.#take(answer);
  }

  /** @param {Answer} answer */
  #take(answer) {
    batch(() => {
      this.#etag = answer.etag;
      this.newer.value = undefined;
      this.record.value = answer.data;
      if (this.recordId === undefined) return;
      this.form.value?.rebase(answer.data);
      upsert(this.kind, answer.data, this.version);
    });
  }

  #vanished() {
    this.isGone.value = true;
    this.failure.value = undefined;
    this.theirs.value = undefined;
    if (this.recordId !== undefined) replaceMany(this.kind, [this.recordId], []);
  }

  /** A write beside the form; unsaved input stays. @param {() => Promise<Answer>} send @param {(name: string) => string} words @param {(answer: Answer) => unknown} [take] */
  write(send, words, take = (answer) => this.#meet(answer)) {
    const work = async () => {
      const answer = await send();
      this.#own = "active";
      await take(answer);
      sayDone(words(this.name), [answer.requestId], () => this.#undone());
    };
    return this.#attempt(work, (repeat) => void this.write(repeat ?? send, words, take));
  }

  /** Restore the record after somebody removed it. @param {number} changeId of the removal */
  restore(changeId) {
    return this.write(() => call("post", "/api/changes/{change_id}/revert", { path: { change_id: changeId } }), (name) => t("restored", { name }), () => this.load());
  }

  /** Save the input, after a write whose answer was lost. */
  save() {
    return this.#attempt(async () => {
      if (this.#lost) {
        await this.#run(this.#lost);
        await this.load();
      }
      const step = this.#step();
      if (step) await this.#run(step);
      this.#saved();
    });
  }

  /** @returns {Step | undefined} the write of the changes */
  #step() {
    const form = /** @type {FormState} */ (this.form.value);
    const { list, one, id } = KINDS[this.kind];
    if (this.recordId === undefined) {
      const { whole } = form;
      return {
        send: () => this.rules.write?.(whole, this) ?? call("post", /** @type {any} */ (list), /** @type {any} */ ({ body: whole })),
        done: (answer) => {
          this.recordId = answer.data[id];
          form.saved(answer.data);
          this.#take(answer);
        },
      };
    }
    if (!form.isChanged.value) return undefined;
    const { changed } = form;
    const more = { path: this.path, body: changed, ifMatch: this.#etag };
    return { send: () => this.rules.write?.(changed, this) ?? call("patch", /** @type {any} */ (one), /** @type {any} */ (more)), done: (answer) => this.#take(answer) };
  }

  /** @param {Step} step */
  async #run(step) {
    try {
      const answer = await step.send();
      this.#lost = undefined;
      this.#requestIds.push(answer.requestId);
      step.done(answer);
    } catch (error) {
      const repeat = error instanceof Failure ? error.repeat : undefined;
      this.#lost = repeat && { send: repeat, done: step.done };
      throw error;
    }
  }

  #saved() {
    const requestIds = this.#requestIds.filter(Boolean);
    this.#requestIds = [];
    if (requestIds.length === 0) return;
    sayDone(t("saved", { name: this.name }), requestIds, () => this.#undone());
    if (this.isNew && !this.#isLeft) this.rules.created?.(this.record.value);
  }

  #undone() {
    void readList(this.kind);
    returned.value += 1;
  }

  /** @param {() => Promise<void>} work @param {(repeat?: () => Promise<Answer>) => void} [again] What a click tries again, if that is not saving. */
  async #attempt(work, again) {
    if (this.isBusy.value) return;
    this.isBusy.value = true;
    this.isSaving.value = !again;
    this.complaint.value = "";
    dismiss(this.#offer);
    try {
      await work();
    } catch (error) {
      await this.#failed(error, again);
    } finally {
      this.isBusy.value = this.isSaving.value = false;
    }
  }

  /** @param {unknown} error @param {((repeat?: () => Promise<Answer>) => void) | undefined} again */
  async #failed(error, again) {
    const form = /** @type {FormState} */ (this.form.value);
    if (!(error instanceof Failure)) throw error;
    // Writes of ours before the failure are not a conflict.
    if (this.#requestIds.length > 0 && !error.repeat) await this.load();
    const words = error.repeat ? undefined : this.rules.explain?.(error, this.record.value);
    if (words) this.complaint.value = words;
    else if (error.kind === "outdated") await this.#face();
    else if (error.kind === "missing") this.#vanished();
    else if (error.kind === "invalid") this.complaint.value = form.take(error.problems).join("\n");
    else if (error.kind === "tooLarge") form.tooLarge();
    else if (error.passes) {
      if (again) sayFailure(error, () => again(error.repeat));
      else this.#offerSaving(error);
    } else this.complaint.value = error.kind === "forbidden" && form.isChanged.value ? `${describe(error)} ${t("merge.kept")}` : describe(error);
  }

  /** Offer to save again, as long as the form is open. @param {unknown} error */
  #offerSaving(error) {
    if (!this.#isLeft) this.#offer = sayFailure(error, () => void this.save());
    else if (error instanceof Failure && error.kind === "unknown") say(t(error.isLate ? "failure.unknown.left.late" : "failure.unknown.left"), { tone: "failed" });
    else sayFailure(error);
  }

  /** The person went elsewhere: what they left unsaved is not saved by a click any more. */
  leave() {
    this.#isLeft = true;
    this.#reading.abort();
    dismiss(this.#offer);
  }

  /** Read the other user's version, to compare it with the input. */
  async #face() {
    try {
      this.theirs.value = await this.#read();
    } catch (error) {
      if (error instanceof Failure && error.kind === "missing") this.#vanished();
      else this.#offerSaving(error);
    }
  }

  /** Look at what is newer, as far as it is known. */
  face() {
    this.theirs.value = this.newer.value;
  }

  /** Go on from what somebody else wrote. @param {import("../../form.js").Values} decided what each field shall be */
  resolve(decided) {
    const { theirs } = this;
    if (!theirs.value) return;
    batch(() => {
      const { data, etag } = /** @type {Answer} */ (theirs.value);
      this.#etag = etag;
      this.record.value = data;
      this.form.value?.resolve(data, decided);
      theirs.value = undefined;
      this.newer.value = undefined;
      upsert(this.kind, data, this.version);
    });
  }

  /** Discard the input. */
  discard() {
    this.#lost = undefined;
    dismiss(this.#offer);
    this.form.value?.restart(this.record.value);
    this.complaint.value = "";
    if (this.newer.value) this.#take(this.newer.value);
    else void this.load();
  }

  /** Remove it. @param {string} note Why. @param {() => void} gone What follows, perhaps only when it was tried again. @param {() => Promise<Answer>} [repeat] Repeats a lost request. */
  remove(note, gone, repeat) {
    const { name } = this;
    const more = { path: this.path, ifMatch: this.#etag, ...(note ? { note } : {}) };
    const work = async () => {
      try {
        const answer = await (repeat ?? (() => call("delete", /** @type {any} */ (KINDS[this.kind].one), /** @type {any} */ (more))))();
        if (this.recordId !== undefined) replaceMany(this.kind, [this.recordId], []);
        this.form.value?.restart(this.record.value);
        sayDone(t("removed", { name }), [answer.requestId], () => this.#undone());
        gone();
      } catch (error) {
        if (!(error instanceof Failure) || error.kind !== "outdated") throw error;
        await this.load();
        this.complaint.value = t("remove.outdated");
      }
    };
    return this.#attempt(work, (again) => void this.remove(note, gone, again));
  }
}

/** Notices about completed actions, with undo, and questions. */
import { signal } from "./vendor/preact.js";
import { Failure } from "./client.js";
import { me } from "./session.js";
import { t, withTexts } from "./texts.js";

/**
 * @typedef {{text: string, run: () => void, shortcut?: string}} Action
 * @typedef {object} Notice
 * @property {number} id
 * @property {string} text
 * @property {"done" | "failed"} tone
 * @property {Action | undefined} action
 * @property {number} until Before this moment, in milliseconds, it is too soon to try again; 0 where nothing is to be waited for.
 * @property {((left: number) => string) | undefined} words What stands in place of the text while that is waited for, and when it is over.
 * @property {boolean} stays Whether it stays until it is closed or dismissed.
 * @property {string} reference The id of the request that failed, to be copied; empty where nobody needs it.
 */

/** @type {Signal<Notice[]>} */
export const notices = signal([]);
let count = 0;
const loadUndo = withTexts(() => import("./undo.js"));
/** @type {(() => void) | undefined} */
let undoes;

/**
 * @param {string} text
 * @param {{tone?: "done" | "failed", action?: Action, stays?: boolean, until?: number, words?: (left: number) => string, reference?: string}} [more]
 * @returns {number} what `dismiss` takes
 */
export function say(text, { tone = "done", action, stays = tone === "failed", until = 0, words, reference = "" } = {}) {
  count += 1;
  const id = count;
  const notice = { id, text, tone, action, until, words, stays, reference };
  // Undo is offered until the next write, even a failed one: beside "Try again" it would be unclear what it undoes.
  const remains = (/** @type {Notice} */ each) => each.action === undefined || (tone === "failed" && (each.tone === "failed" || !action));
  notices.value = [...notices.value.filter(remains), notice].slice(-3);
  if (action || tone !== "failed") undoes = action?.shortcut ? action.run : undefined;
  return id;
}

/** @param {number | undefined} id Undefined if no notice was shown. */
export function dismiss(id) {
  notices.value = notices.value.filter((each) => each.id !== id);
}

/**
 * Report a completed action, and offer to undo it; Ctrl+Z does so until the next write.
 *
 * @param {string} text
 * @param {string[]} requestIds Of the answers, in their order.
 * @param {() => void} undone Reads the data again afterwards.
 * @param {() => string} [words] What then reports that it is undone, if not its own text.
 */
export function sayDone(text, requestIds, undone, words) {
  const run = () => {
    undoes = undefined;
    loadUndo().then((module) => module.undo({ dismiss, say, sayFailure }, text, requestIds, undone, words), () => say(t("failure.away"), { tone: "failed" }));
  };
  say(text, requestIds.some(Boolean) ? { action: { text: t("undo"), run, shortcut: "Control+Z" } } : {});
}

/** @returns {boolean} whether there was something to undo */
export function undoLast() {
  if (!undoes) return false;
  notices.value = notices.value.filter(({ action }) => !action?.shortcut);
  undoes();
  return true;
}

// The next user did not do it.
me.subscribe((user) => user || (undoes = undefined));

/**
 * Report a failure, with a button to retry if that can help.
 * @param {unknown} error @param {() => void} [again]
 * @returns {number} what `dismiss` takes: what a click would send goes with the form that it stood in
 */
export function sayFailure(error, again) {
  if (!(error instanceof Failure)) throw error;
  const action = again && error.passes ? { text: t("tryAgain"), run: again } : undefined;
  return say(describe(error), { tone: "failed", ...(action ? { action } : {}), until: error.until, words: wordsOfWait(error), reference: error.reference });
}

/** @param {number} left Seconds in which it is too soon to try again. @returns {string} */
export const busyWords = (left) => (left ? t("failure.busy", { n: left }) : t("failure.busy.over"));

/** @param {Failure} failure @returns {(left: number) => string} what stands there while seconds pass, and afterwards */
export const wordsOfWait = (failure) => (failure.kind === "wait" ? busyWords : (left) => described(failure, left));

/** @param {Failure} failure @returns {string} what happened, and what to do */
export const describe = (failure) => described(failure, failure.until && failure.seconds);

/** @param {Failure} failure @param {number} left Seconds in which it is too soon to try again. @returns {string} */
function described(failure, left) {
  const id = failure.reference;
  return [reasonOf(failure), left > 0 && failure.kind !== "wait" && t("failure.in", { n: left }), id && t("failure.reference", { id })].filter(Boolean).join(" ");
}

/** A name or a number that is taken (contract A7). */
const DUPLICATE = /^Duplicate entry '(.*)' for key '\w+'$/s;

/** @param {Failure} failure @returns {string} */
function reasonOf(failure) {
  const taken = DUPLICATE.exec(failure.detail)?.[1];
  switch (failure.kind) {
    case "wait":
      return failure.seconds ? busyWords(failure.seconds) : t("failure.busy.moment");
    case "conflict":
      return taken === undefined ? t("failure.conflict", { detail: failure.detail }) : t("failure.duplicate", { value: taken });
    case "unknown":
      return t(failure.isLate ? "failure.unknown.late" : "failure.unknown");
    default:
      return t(`failure.${failure.kind}`);
  }
}

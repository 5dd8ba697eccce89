/** Undoes requests; few do that at once, so a list loads without it. */
import { call, Failure } from "./client.js";
import { t } from "./texts.js";

/**
 * Undo requests, the last one first; if one fails, a click undoes the remaining ones.
 * @param {Pick<typeof import("./notices.js"), "dismiss" | "say" | "sayFailure">} notices
 * @param {string} what The words with which they were reported.
 * @param {string[]} requestIds @param {() => void} undone @param {() => string} [words] What reports that it is done.
 */
export async function undo({ dismiss, say, sayFailure }, what, requestIds, undone, words = () => t("undone.what", { what })) {
  const left = requestIds.filter(Boolean);
  const revert = (/** @type {string | undefined} */ id) => call("post", /** @type {any} */ ("/api/changes/revert"), { body: { request_id: id ?? "" } });
  const go = async (/** @type {(() => Promise<any>) | undefined} */ repeat) => {
    const working = left.length > 1 ? say(t("undoing", { n: left.length }), { stays: true }) : undefined;
    try {
      for (; left.length > 0; left.pop(), repeat = undefined) await (repeat ?? (() => revert(left.at(-1))))();
      say(words());
    } catch (error) {
      // With its own key, so that it has no second effect.
      sayFailure(error, () => void go(error instanceof Failure ? error.repeat : undefined));
    } finally {
      if (working) dismiss(working);
      undone();
    }
  };
  await go(undefined);
}

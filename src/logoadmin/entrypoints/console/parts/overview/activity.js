/**
 * How many changes there were each day. Changes are numbered without gaps, so the first number of each day tells it,
 * however many there were: nothing is read that is not needed, and nothing is cut.
 */
import { read } from "../history/changes.js";

/** @param {number} days @returns {number[]} when each of the last days began here, and when the next one will */
export function lastDays(days) {
  const now = new Date();
  const began = (/** @type {number} */ ago) => new Date(now.getFullYear(), now.getMonth(), now.getDate() - ago).getTime() / 1000;
  return Array.from({ length: days + 1 }, (_, at) => began(days - 1 - at));
}

/**
 * @param {number[]} marks Unix times that rise.
 * @param {AbortSignal} signal
 * @returns {Promise<number[]>} how many changes there were from each mark to the next
 * @throws {import("../../client.js").Failure}
 */
export async function countBetween(marks, signal) {
  /** @param {object} query @returns {Promise<number | undefined>} */
  const changeId = async (query) => (await read({ ...query, limit: 1 }, signal)).data[0]?.change_id;
  const end = ((await changeId({ order: "desc" })) ?? 0) + 1;
  const firstSince = async (/** @type {number} */ at) => (await changeId({ since: marks[at] })) ?? end;
  const counts = marks.slice(1).map(() => 0);
  /** @param {number} from @param {number} to @param {number} low @param {number} high */
  const fill = async (from, to, low, high) => {
    // Where a clock was set back, numbers and times do not rise together: never fewer than none.
    if (high <= low) return;
    if (to - from === 1) counts[from] = high - low;
    else {
      const middle = Math.floor((from + to) / 2);
      const between = await firstSince(middle);
      await Promise.all([fill(from, middle, low, between), fill(middle, to, between, high)]);
    }
  };
  await fill(0, marks.length - 1, await firstSince(0), end);
  return counts;
}

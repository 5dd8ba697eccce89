/** Three texts that have a beginning in common: what two people did to it, together, where that is one text. */
import { lineDiff } from "./line_diff.js";

/** @typedef {{from: number, to: number, lines: string[]}} Hunk The lines of the base from one to before another, and what came in their place. */

/** @param {string} base @param {string} mine @param {string} theirs @returns {string | undefined} nothing where both changed the same lines, or lines that touch */
export function mergedLines(base, mine, theirs) {
  const hunks = [...hunksOf(base, mine), ...hunksOf(base, theirs)].toSorted((a, b) => a.from - b.from || a.to - b.to);
  const lines = base === "" ? [] : base.split(/\r\n|\r|\n/);
  /** @type {string[]} */
  const merged = [];
  let done = 0;
  /** @type {Hunk | undefined} */
  let last;
  for (const hunk of hunks) {
    if (last && JSON.stringify(last) === JSON.stringify(hunk)) continue;
    if (last && hunk.from <= last.to) return undefined;
    merged.push(...lines.slice(done, hunk.from), ...hunk.lines);
    done = hunk.to;
    last = hunk;
  }
  return [...merged, ...lines.slice(done)].join("\n");
}

/** @param {string} base @param {string} text @returns {Hunk[]} */
function hunksOf(base, text) {
  /** @type {Hunk[]} */
  const hunks = [];
  let at = 0;
  for (const { kind, lines } of lineDiff(base, text)) {
    if (kind === "same") {
      at += lines.length;
      continue;
    }
    let hunk = hunks.at(-1);
    if (hunk?.to !== at) {
      hunk = { from: at, to: at, lines: [] };
      hunks.push(hunk);
    }
    if (kind === "added") hunk.lines.push(...lines);
    else hunk.to = at += lines.length;
  }
  return hunks;
}

/**
 * The same for a list of different things in an order.
 *
 * @template T
 * @param {readonly T[]} base
 * @param {readonly T[]} mine
 * @param {readonly T[]} theirs
 * @returns {T[] | undefined} nothing where one of them put in another order what both have
 */
export function mergedList(base, mine, theirs) {
  const staying = base.filter((each) => mine.includes(each) && theirs.includes(each));
  const inOrder = (/** @type {readonly T[]} */ list) => staying.join() === list.filter((each) => staying.includes(each)).join();
  if (!inOrder(mine) || !inOrder(theirs)) return undefined;
  const left = theirs.filter((each) => !base.includes(each) || mine.includes(each));
  return [...left, ...mine.filter((each) => !base.includes(each) && !left.includes(each))];
}

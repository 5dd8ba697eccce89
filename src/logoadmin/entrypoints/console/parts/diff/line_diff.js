/**
 * Line differences: unchanged, removed and added runs.
 *
 * @typedef {object} Run Lines that share a fate.
 * @property {"same" | "removed" | "added"} kind
 * @property {string[]} lines
 * @property {number} before The number that the first of them had, or would have had; from 1.
 * @property {number} after The number that it has now.
 */
import { diffArrays } from "../../vendor/diff.js";

/** The most lines that are reported as changed one by one, which takes some tens of milliseconds; beyond, all are shown as replaced. */
const MOST_CHANGES = 1000;

/**
 * Compare two texts line by line; as few lines as possible are said to have changed, unless there are too many.
 *
 * @param {string} before
 * @param {string} after
 * @returns {Run[]} in order; where lines were replaced, the old ones come first
 */
export function lineDiff(before, after) {
  const old = linesOf(before);
  const now = linesOf(after);
  const shorter = Math.min(old.length, now.length);
  let start = 0;
  while (start < shorter && old[start] === now[start]) start += 1;
  let end = 0;
  while (end < shorter - start && old[old.length - 1 - end] === now[now.length - 1 - end]) end += 1;
  const [gone, come] = [old.slice(start, old.length - end), now.slice(start, now.length - end)];
  const changes = diffArrays(gone, come, { maxEditLength: MOST_CHANGES }) ?? [{ removed: true, value: gone }, { added: true, value: come }];
  return runsOf([{ value: old.slice(0, start) }, ...changes, { value: old.slice(old.length - end) }]);
}

/** @param {string} text @returns {string[]} none of an empty text */
const linesOf = (text) => (text === "" ? [] : text.split(/\r\n|\r|\n/));

/** @param {{added?: boolean, removed?: boolean, value: string[]}[]} changes @returns {Run[]} */
function runsOf(changes) {
  /** @type {Run[]} */
  const runs = [];
  let [before, after] = [1, 1];
  for (const { added, removed, value } of changes) {
    const kind = added ? "added" : removed ? "removed" : "same";
    const last = runs.at(-1);
    if (last?.kind === kind) last.lines.push(...value);
    else if (value.length > 0) runs.push({ kind, lines: [...value], before, after });
    before += added ? 0 : value.length;
    after += removed ? 0 : value.length;
  }
  return runs;
}

/** @typedef {{from: number, to: number, lines: string[]}} Hunk The lines of the base from one to before another, and what came in their place. */

/** Three texts that have a beginning in common: what two people did to it, together, where that is one text. @param {string} base @param {string} mine @param {string} theirs @returns {string | undefined} nothing where both changed the same lines, or lines that touch */
export function mergedLines(base, mine, theirs) {
  const hunks = [...hunksOf(base, mine), ...hunksOf(base, theirs)].toSorted((a, b) => a.from - b.from || a.to - b.to);
  const lines = linesOf(base);
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

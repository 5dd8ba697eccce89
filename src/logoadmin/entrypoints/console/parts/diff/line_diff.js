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
  const middle = kindsOf(old.slice(start, old.length - end), now.slice(start, now.length - end));
  return runsOf(old, now, [...filled("same", start), ...middle, ...filled("same", end)]);
}

/** @param {string} text @returns {string[]} none of an empty text */
const linesOf = (text) => (text === "" ? [] : text.split(/\r\n|\r|\n/));

/** @param {Run["kind"]} kind @param {number} count @returns {Run["kind"][]} */
const filled = (kind, count) => new Array(count).fill(kind);

/** @param {string[]} old @param {string[]} now @returns {Run["kind"][]} the kind of each line of both texts */
function kindsOf(old, now) {
  const changes = diffArrays(old, now, { maxEditLength: MOST_CHANGES });
  if (!changes) return [...filled("removed", old.length), ...filled("added", now.length)];
  return changes.flatMap(({ added, removed, count }) => filled(added ? "added" : removed ? "removed" : "same", count));
}

/** @param {string[]} old @param {string[]} now @param {Run["kind"][]} kinds @returns {Run[]} */
function runsOf(old, now, kinds) {
  /** @type {Run[]} */
  const runs = [];
  let i = 0;
  let j = 0;
  for (const kind of kinds) {
    let run = runs.at(-1);
    if (run?.kind !== kind) {
      run = { kind, lines: [], before: i + 1, after: j + 1 };
      runs.push(run);
    }
    run.lines.push((kind === "added" ? now[j] : old[i]) ?? "");
    i += kind === "added" ? 0 : 1;
    j += kind === "removed" ? 0 : 1;
  }
  return runs;
}

/** @typedef {{from: number, to: number, lines: string[]}} Hunk The lines of the base from one to before another, and what came in their place. */

/** Three texts that have a beginning in common: what two people did to it, together, where that is one text. @param {string} base @param {string} mine @param {string} theirs @returns {string | undefined} nothing where both changed the same lines, or lines that touch */
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

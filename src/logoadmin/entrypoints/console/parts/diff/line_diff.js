/**
 * What became of lines: which stayed, which went, which came.
 *
 * @typedef {object} Run Lines that share a fate.
 * @property {"same" | "removed" | "added"} kind
 * @property {string[]} lines
 * @property {number} before The number that the first of them had, or would have had; from 1.
 * @property {number} after The number that it has now.
 */

/** The most pairs of lines that are compared, which takes some tens of milliseconds; more is shown as replaced. */
const MOST_PAIRS = 4_000_000;

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

/**
 * Classify each line of both texts by their longest common subsequence.
 *
 * @param {string[]} old
 * @param {string[]} now
 * @returns {Run["kind"][]}
 */
function kindsOf(old, now) {
  if (old.length * now.length > MOST_PAIRS) return [...filled("removed", old.length), ...filled("added", now.length)];
  const width = now.length + 1;
  // common[i * width + j] is how long that of old[i…] and now[j…] is.
  const common = new Uint16Array((old.length + 1) * width);
  const at = (/** @type {number} */ i, /** @type {number} */ j) => common[i * width + j] ?? 0;
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      common[i * width + j] = old[i] === now[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
    }
  }
  /** @type {Run["kind"][]} */
  const kinds = [];
  for (let i = 0, j = 0; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      kinds.push("same");
      i += 1;
      j += 1;
    } else if (i < old.length && (j === now.length || at(i + 1, j) >= at(i, j + 1))) {
      kinds.push("removed");
      i += 1;
    } else {
      kinds.push("added");
      j += 1;
    }
  }
  return kinds;
}

/**
 * @param {string[]} old
 * @param {string[]} now
 * @param {Run["kind"][]} kinds
 * @returns {Run[]}
 */
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

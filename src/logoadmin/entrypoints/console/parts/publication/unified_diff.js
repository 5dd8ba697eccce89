/** A difference as the service writes it: unified, of one file or several. */

/** @typedef {import("../diff/diff.js").Row} Row */

const PART = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;
/** Names of files are hashes: the beginning tells them apart. */
const HASH = /\b([0-9a-f]{12})[0-9a-f]{52}\b/;

/**
 * @param {string} text As `diff -u` writes it; it may be cut off, with a sentence at its end.
 * @returns {{rows: Row[], isCut: boolean}} its lines; before each part, what it is a part of
 */
export function rowsOf(text) {
  /** @type {Row[]} */
  const rows = [];
  let [before, after, old, now] = [0, 0, 0, 0];
  let [from, file] = ["", ""];
  for (const line of text.split("\n")) {
    const isPart = old > 0 || now > 0;
    const mark = line.slice(0, isPart ? 1 : 3);
    const part = isPart ? null : PART.exec(line);
    if (part) {
      [before, old, after, now] = [Number(part[1]), Number(part[2] ?? 1), Number(part[3]), Number(part[4] ?? 1)];
      rows.push({ kind: "left", text: file || "…", before: 0, after: 0, count: 0 });
      file = "";
    } else if (mark === "---") from = named(line);
    else if (mark === "+++") file = `${from} → ${named(line)}`;
    else if (mark === "-") rows.push({ kind: "removed", text: line.slice(1), before, after: 0, count: 1 });
    else if (mark === "+") rows.push({ kind: "added", text: line.slice(1), before: 0, after, count: 1 });
    else if (mark === " ") rows.push({ kind: "same", text: line.slice(1), before, after, count: 1 });
    else if (line !== "") return { rows, isCut: true };
    if (mark === "-" || mark === " ") [before, old] = [before + 1, old - 1];
    if (mark === "+" || mark === " ") [after, now] = [after + 1, now - 1];
  }
  return { rows, isCut: old > 0 || now > 0 };
}

/** @param {string} line @returns {string} */
const named = (line) => line.slice(4).replace(HASH, "$1…");

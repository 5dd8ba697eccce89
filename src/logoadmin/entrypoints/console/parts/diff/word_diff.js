/** What changed within a line, word by word. */
import { diffArrays } from "../../vendor/diff.js";

/** The longest lines that are compared, and the most words of them that differ. */
const LONGEST = 2000;
const MOST_CHANGES = 200;

/** @typedef {{text: string, isChanged: boolean}} Part */

/** @param {string} before @param {string} after @returns {{removed: Part[], added: Part[]} | undefined} the parts of both; nothing where most of it changed */
export function wordDiff(before, after) {
  if (before.length + after.length > LONGEST) return undefined;
  const changes = diffArrays(wordsOf(before), wordsOf(after), { maxEditLength: MOST_CHANGES });
  if (!changes) return undefined;
  const parts = changes.map(({ added, removed, value }) => ({ text: value.join(""), added, removed }));
  const stayed = parts.filter(({ added, removed }) => !added && !removed).reduce((sum, { text }) => sum + text.trim().length, 0);
  if (stayed * 2 < Math.min(before.length, after.length)) return undefined;
  const of = (/** @type {"added" | "removed"} */ kind) => {
    const other = kind === "added" ? "removed" : "added";
    return parts.filter((part) => !part[other]).map((part) => ({ text: part.text, isChanged: part[kind] }));
  };
  return { removed: of("removed"), added: of("added") };
}

/** @param {string} text @returns {string[]} its words, numbers and other characters, one by one */
const wordsOf = (text) => text.match(/[\p{L}\p{N}_-]+|\s+|./gsu) ?? [];

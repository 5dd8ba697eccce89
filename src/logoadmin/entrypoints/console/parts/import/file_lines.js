/** Files with a record a line: single lines of them, and what is in them, without holding more than that. */

/** What is shown of a line. */
const SHOWN = 2000;

/**
 * @param {Blob} file
 * @param {string} encoding
 * @param {Set<number>} wanted Numbers of lines, from 1.
 * @returns {Promise<Map<number, string>>} the lines, the longest ones cut
 */
export async function linesOf(file, encoding, wanted) {
  /** @type {Map<number, string>} */
  const found = new Map();
  const last = Math.max(0, ...wanted);
  let number = 1;
  for await (const text of textOf(file, encoding)) {
    const parts = text.split("\n");
    for (const [at, part] of parts.entries()) {
      if (at > 0) number += 1;
      if (wanted.has(number)) found.set(number, `${found.get(number) ?? ""}${part}`.slice(0, SHOWN));
    }
    if (number > last) break;
  }
  return found;
}

/** @param {Blob} file @param {string} encoding @returns {AsyncGenerator<string>} its text, in parts */
async function* textOf(file, encoding) {
  const reader = file.stream().pipeThrough(new TextDecoderStream(encoding)).getReader();
  try {
    for (let { done, value } = await reader.read(); !done; { done, value } = await reader.read()) yield value ?? "";
  } finally {
    void reader.cancel().catch(() => undefined);
  }
}

/**
 * Counts the lines of each kind that pass by.
 * @param {(counts: Record<string, number>) => void} counted Called after each part.
 * @returns {TransformStream<Uint8Array, Uint8Array>}
 */
export function counting(counted) {
  /** @type {Record<string, number>} */
  const counts = {};
  const decoder = new TextDecoder();
  let begun = "";
  return new TransformStream({
    transform(chunk, controller) {
      const lines = (begun + decoder.decode(chunk, { stream: true })).split("\n");
      begun = (lines.pop() ?? "").slice(0, 64);
      for (const line of lines) {
        const kind = /^\{"kind": ?"(\w+)"/.exec(line)?.[1];
        if (kind) counts[kind] = (counts[kind] ?? 0) + 1;
      }
      counted({ ...counts });
      controller.enqueue(chunk);
    },
  });
}

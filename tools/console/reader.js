/** Writes the package's reader.js: its source in tools/reader without comments and spaces. Without --write, compares. */
import { readFile, writeFile } from "node:fs/promises";

import { transform } from "esbuild";

const SOURCE = new URL("../reader/reader.js", import.meta.url);
const MADE = new URL("../../src/logoadmin/reader/reader.js", import.meta.url);

const { code } = await transform(await readFile(SOURCE, "utf8"), {
  banner: "/** Reads a gallery that logoadmin publishes: docs/read.md. Made of tools/reader/reader.js of the project. */",
  charset: "utf8",
  format: "esm",
  lineLimit: 240,
  // Names stay, for people who read it in an extension.
  minifySyntax: true,
  minifyWhitespace: true,
  target: "es2022",
});
if (process.argv.includes("--write")) await writeFile(MADE, code);
else if ((await readFile(MADE, "utf8")) !== code) throw new Error("src/logoadmin/reader/reader.js is not made of its source: make reader");

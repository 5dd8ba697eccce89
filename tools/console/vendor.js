/**
 * Makes what the console has from others: one module of each group of packages, the typeface, the licences of all that is in
 * them, and the manifest. The same versions give the same bytes. `make vendor` runs it.
 */
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { basename, parse } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";
import subsetFont from "subset-font";

const HERE = new URL("./", import.meta.url);
const VENDOR = new URL("../../src/logoadmin/entrypoints/console/vendor/", HERE);
const FACE = "node_modules/geist/dist/fonts/geist-sans/Geist-Variable.ttf";
/** A path in node_modules, and in it the package. */
const OF_A_PACKAGE = /node_modules\/((?:@[^/]+\/)?[^/]+)\/[^]*$/;

/**
 * A package that a module was made of.
 *
 * @typedef {{ name: string, version: string, license: string, integrity: string }} Package
 */

/**
 * Bundle what a declaration file exports: its values become the module, its types are for tsc.
 *
 * @param {string} name
 * @returns {Promise<{ text: string, inputs: string[] }>}
 */
async function bundled(name) {
  const contents = await readFile(new URL(`${name}.d.ts`, VENDOR), "utf8");
  const result = await build({
    stdin: { contents, loader: "ts", resolveDir: fileURLToPath(HERE), sourcefile: `${name}.ts` },
    absWorkingDir: fileURLToPath(HERE),
    bundle: true,
    charset: "utf8",
    format: "esm",
    legalComments: "none",
    metafile: true,
    minify: true,
    target: "es2022",
    write: false,
  });
  const [file] = result.outputFiles;
  if (file === undefined) throw new Error(`nothing was made of ${name}`);
  return { text: file.text, inputs: Object.keys(result.metafile.inputs) };
}

/**
 * Return the packages that the files belong to, by name.
 *
 * @param {string[]} inputs
 * @returns {Promise<Package[]>}
 */
async function packagesOf(inputs) {
  const lock = JSON.parse(await readFile(new URL("package-lock.json", HERE), "utf8"));
  const names = new Set(inputs.flatMap((path) => OF_A_PACKAGE.exec(path)?.[1] ?? []));
  return [...names].sort().map((name) => {
    const { version, license, integrity } = lock.packages[`node_modules/${name}`];
    return { name, version, license, integrity };
  });
}

/**
 * Put the licences of packages into one text, each wording once.
 *
 * @param {Package[]} packages
 */
async function licencesOf(packages) {
  /** @type {Map<string, string[]>} */
  const wordings = new Map();
  for (const { name, version } of packages) {
    const directory = new URL(`node_modules/${name}/`, HERE);
    const file = (await readdir(directory)).find((each) => /^licen[cs]e/i.test(each));
    if (file === undefined) throw new Error(`${name} brings no licence`);
    const wording = (await readFile(new URL(file, directory), "utf8")).replaceAll("\r", "").trim();
    wordings.set(wording, [...(wordings.get(wording) ?? []), `${name} ${version}`]);
  }
  return [...wordings].map(([wording, names]) => `${names.join(", ")}\n\n${wording}\n`).join(`\n${"-".repeat(80)}\n\n`);
}

/** @param {number} first @param {number} last @returns {string} */
const letters = (first, last) => String.fromCodePoint(...Array.from({ length: last - first + 1 }, (_, at) => first + at));

// The letters of English and Russian; and accented ones, which a browser loads only if a page has one of them.
const PLAIN = `${letters(0x20, 0x7e)}${letters(0x410, 0x44f)}Ёё№\u{A0}«»‹›–—‘’“”…·×−→←`;
const ACCENTED = letters(0xc0, 0x17f).replace("×", "");

/** @param {string} drawn @returns {Promise<Buffer>} the typeface of some letters in the weights of the console */
async function face(drawn) {
  return subsetFont(await readFile(new URL(FACE, HERE)), drawn, {
    targetFormat: "woff2",
    variationAxes: { wght: { min: 400, max: 600, default: 400 } },
    keepFeatures: ["tnum"],
    noHinting: true,
    dropTables: ["GDEF", "HVAR", "MVAR", "STAT", "gasp"], // which browsers do not need to draw it
  });
}

/** @type {Record<string, { sha512: string, packages: Package[] }>} */
const manifest = {};

/**
 * Write a file of the console, and beside it the licences of what it was made of.
 *
 * @param {string} file
 * @param {string | Buffer} content
 * @param {string[]} inputs
 */
async function vendor(file, content, inputs) {
  const packages = await packagesOf(inputs);
  await writeFile(new URL(file, VENDOR), content);
  await writeFile(new URL(`${parse(file).name}.LICENSE.txt`, VENDOR), await licencesOf(packages));
  manifest[file] = { sha512: createHash("sha512").update(content).digest("hex"), packages };
}

for (const file of (await readdir(VENDOR)).filter((each) => each.endsWith(".d.ts")).sort()) {
  const { text, inputs } = await bundled(basename(file, ".d.ts"));
  await vendor(file.replace(/d\.ts$/, "js"), text, inputs);
}
await vendor("face.woff2", await face(PLAIN), [FACE]);
await vendor("face-accented.woff2", await face(ACCENTED), [FACE]);
await writeFile(new URL("manifest.json", VENDOR), `${JSON.stringify(manifest, null, 2)}\n`);

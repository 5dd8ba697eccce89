/**
 * Makes what the console has from others: one module of each group of packages, the licences of all that is in it, and
 * the manifest. The same versions give the same bytes. `make vendor` runs it.
 */
import { createHash } from "node:crypto";
import { readFile, readdir, writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";

import { build } from "esbuild";

const HERE = new URL("./", import.meta.url);
const VENDOR = new URL("../../src/logoadmin/entrypoints/console/vendor/", HERE);
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

/** @type {Record<string, { sha512: string, packages: Package[] }>} */
const manifest = {};
for (const file of (await readdir(VENDOR)).filter((each) => each.endsWith(".d.ts")).sort()) {
  const name = basename(file, ".d.ts");
  const { text, inputs } = await bundled(name);
  const packages = await packagesOf(inputs);
  await writeFile(new URL(`${name}.js`, VENDOR), text);
  await writeFile(new URL(`${name}.LICENSE.txt`, VENDOR), await licencesOf(packages));
  manifest[`${name}.js`] = { sha512: createHash("sha512").update(text).digest("hex"), packages };
}
await writeFile(new URL("manifest.json", VENDOR), `${JSON.stringify(manifest, null, 2)}\n`);

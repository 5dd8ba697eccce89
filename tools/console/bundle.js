/**
 * Bundles the console for the wheel: `node bundle.js [FOLDER [MODULE …]]`.
 *
 * Every file that the page or a module asks for by name keeps its name; what several of them share is in chunks. `bundle.json`
 * names what each view needs, by its path, in which `:` is a number, and under `*` what all views need, so that the page can ask
 * for all of it at once. Beside each script and style sheet, and the frame of previews, is its Brotli form at level 11, which
 * the service would need a second to make for the editor. Modules that are named keep their names as well: tests import them.
 */
import { cp, readFile, readdir, rename, rm, writeFile } from "node:fs/promises";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { brotliCompressSync } from "node:zlib";

import { build } from "esbuild";

const CONSOLE = fileURLToPath(new URL("../../src/logoadmin/entrypoints/console/", import.meta.url));
const [folder = fileURLToPath(new URL("../../build/console/", import.meta.url)), ...opened] = process.argv.slice(2);

/** @type {import("esbuild").BuildOptions & {metafile: true}} */
const options = {
  absWorkingDir: CONSOLE,
  bundle: true,
  charset: "utf8",
  chunkNames: "[name]-[hash]",
  external: ["*.svg", "*.woff2"],
  format: "esm",
  legalComments: "none", // the licences are beside it
  metafile: true,
  minify: true,
  outbase: CONSOLE,
  outdir: folder,
  splitting: true,
  target: "es2022",
};

/** @returns {Promise<string[]>} the modules that others load later, but for texts, whose names are put together */
async function loadedLater() {
  const { metafile } = await build({ ...options, entryPoints: ["app.js"], write: false });
  return Object.values(metafile.inputs).flatMap(({ imports }) => imports.filter(({ kind }) => kind === "dynamic-import").map(({ path }) => path));
}

/**
 * Makes each of these modules import `app.js`, which is always loaded before them. The modules of `app.js` then belong to
 * every one of them and form one chunk; esbuild makes a chunk for each set of entry points that share a module.
 *
 * @param {Set<string>} later
 * @param {string[]} joining The modules that join the chunk of `app.js`.
 * @returns {import("esbuild").Plugin}
 */
const afterApp = (later, joining) => ({
  name: "after-app",
  setup({ onLoad }) {
    onLoad({ filter: /\.js$/ }, async ({ path }) => {
      const name = relative(CONSOLE, path);
      const first = name === "app.js" ? joining : later.has(name) ? ["app.js"] : [];
      return { contents: first.map((each) => `import ${JSON.stringify(join(CONSOLE, each))};`).join("") + (await readFile(path, "utf8")) };
    });
  },
});

/** @param {import("esbuild").Metafile} metafile @returns {Promise<string[]>} the modules of the chunks that the first list needs */
async function inFirstList(metafile) {
  const outputs = (await neededBy(metafile))[FIRST_LIST]?.map((name) => metafile.outputs[relative(CONSOLE, join(folder, name))]);
  if (!outputs) throw new Error(`no view has the path ${FIRST_LIST}`);
  return outputs.flatMap((output) => (output && !output.entryPoint ? Object.keys(output.inputs) : []));
}

/** @param {import("esbuild").Metafile} metafile @returns {Promise<Record<string, string[]>>} */
async function neededBy({ outputs }) {
  const nameOf = (/** @type {string} */ path) => relative(folder, join(CONSOLE, path));
  const imports = new Map(
    Object.entries(outputs).map(([path, output]) => [nameOf(path), output.imports.filter(({ kind }) => kind === "import-statement").map((each) => nameOf(each.path))]),
  );
  /** @param {string} name @param {Set<string>} found */
  const withImports = (name, found = new Set()) => {
    if (!found.has(name)) {
      found.add(name);
      imports.get(name)?.forEach((each) => withImports(each, found));
    }
    return found;
  };
  const { STYLES, views } = await import(`data:text/javascript,${encodeURIComponent(await readFile(join(CONSOLE, "views.js"), "utf8"))}`);
  const all = withImports("app.js");
  /** @type {Record<string, string[]>} */
  const needed = { "*": [...all].slice(1) };
  for (const { path, load, styles = STYLES } of views) {
    const page = /** @type {string} */ (/"\.\/(.*)"/.exec(load.toString())?.[1]);
    const sheets = styles.map((/** @type {string} */ name) => `style/${name}.css`);
    needed[path.replace(/:\w+/g, ":")] = [...[...withImports(page)].filter((name) => !all.has(name)), ...sheets];
  }
  return needed;
}

/** What people see first, as `bundle.json` names it. */
const FIRST_LIST = "logos";

const later = await loadedLater();
const files = await readdir(CONSOLE, { recursive: true });
const named = files.filter((name) => /^style\/|^texts\/.*\.js$/.test(name));
await rm(folder, { recursive: true, force: true });
/** @param {string[]} joining @param {boolean} write */
const bundled = (joining, write) =>
  build({
    ...options,
    entryPoints: [...new Set(["app.js", "preview.js", ...later, ...opened, ...named])],
    plugins: [afterApp(new Set(later), joining)],
    write,
  });
const { metafile } = await bundled(await inFirstList((await bundled([], false)).metafile), true);
for (const name of files.filter((each) => /\.(html|svg|txt|woff2)$|manifest\.json$/.test(each))) await cp(join(CONSOLE, name), join(folder, name));
const needed = await neededBy(metafile);
// `app.js` would only import the chunk with the program, so the chunk takes its place and its name.
const program = needed["*"]?.find((name) => metafile.outputs[relative(CONSOLE, join(folder, name))]?.inputs["app.js"]);
if (!program) throw new Error("no chunk has app.js");
await rename(join(folder, program), join(folder, "app.js"));
needed["*"] = needed["*"]?.filter((name) => name !== program) ?? [];
await writeFile(join(folder, "bundle.json"), JSON.stringify(needed));
for (const { name, parentPath } of await readdir(folder, { recursive: true, withFileTypes: true })) {
  if (!/\.(css|js)$|^preview\.html$/.test(name)) continue;
  const file = join(parentPath, name);
  const text = (await readFile(file, "utf8")).replaceAll(program, "app.js");
  await writeFile(file, text);
  await writeFile(`${file}.br`, brotliCompressSync(text));
}

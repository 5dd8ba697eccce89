/**
 * How the console's modules import each other, dynamic imports included. Without arguments it checks that there is no
 * import cycle and that `preload.json` is current; with `--write` it writes `preload.json`: for each view, the modules and
 * style sheets to load at once, so that the browser need not discover them one after the other; and the keys of the texts that
 * lists mention, and of those that only the publication, signing in or enrolment mentions: the service serves them separately.
 */
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const CONSOLE = fileURLToPath(new URL("../../src/logoadmin/entrypoints/console/", import.meta.url));
const PRELOAD = `${CONSOLE}preload.json`;
/** Loaded on every view; `start.js` comes first, because it begins to read while the others still load. */
const ENTRIES = ["start.js", "app.js"];
/** Modules that are loaded with texts of their own, by the name of the part. */
const OWN_TEXTS = { publication: /(^|\/)publication\/(?!pin_failure)|(^|\/)publication\.js/, pins: /(^|\/)pin_failure\b/, sign_in: /(^|\/)sign_in\b/, signing_in: /(^|\/)(signing_in\/|people\/enrolment\b)/ };

/** @param {string} name @returns {string} */
const source = (name) => readFileSync(CONSOLE + name, "utf8");

/** @param {string} text @param {string} from the module that contains it @returns {string[]} */
const importsIn = (text, from) =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => normalize(join(dirname(from), fileName)));

/** @param {string} name @returns {string[]} the modules that it needs before it can run */
function staticImports(name) {
  const { statements } = ts.createSourceFile(name, source(name), ts.ScriptTarget.Latest);
  const texts = statements.filter((each) => ts.isImportDeclaration(each) || ts.isExportDeclaration(each));
  return importsIn(texts.map((each) => source(name).slice(each.getFullStart(), each.end)).join("\n"), name);
}

/** @param {string} name @returns {string[]} the modules that it may load with no more texts than those of the lists */
function importsOfLists(name) {
  if (name === "views.js") return [];
  const text = source(name);
  const later = new Set();
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === "withTexts") importsIn(node.getText(), name).forEach((each) => later.add(each));
    else ts.forEachChild(node, visit);
  };
  visit(ts.createSourceFile(name, text, ts.ScriptTarget.Latest, true));
  return importsIn(text, name).filter((each) => !later.has(each) && !OWN_TEXTS.sign_in.test(each));
}

/**
 * @param {string[]} names
 * @param {(name: string) => string[]} imports
 * @returns {string[]} these modules and all that they import, nearest first
 */
function withImports(names, imports = staticImports) {
  const found = new Set();
  for (const first of names) {
    const waiting = [first];
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift()) {
      if (found.has(name)) continue;
      found.add(name);
      waiting.push(...imports(name));
    }
  }
  return [...found];
}

/** @param {Map<string, string[]>} imports @returns {string[] | undefined} the modules of a cycle, if there is one */
function cycle(imports) {
  const finished = new Set();
  /** @param {string} name @param {string[]} path @returns {string[] | undefined} */
  const visit = (name, path) => {
    if (path.includes(name)) return [...path.slice(path.indexOf(name)), name];
    if (finished.has(name)) return undefined;
    for (const next of imports.get(name) ?? []) {
      const found = visit(next, [...path, name]);
      if (found) return found;
    }
    finished.add(name);
    return undefined;
  };
  for (const name of imports.keys()) {
    const found = visit(name, []);
    if (found) return found;
  }
  return undefined;
}

/**
 * @param {string[]} names of modules
 * @returns {Promise<string[]>} the keys of the texts that they mention; `failure.${kind}` mentions every key that fits
 */
async function textsIn(names) {
  const { default: texts } = await import(`data:text/javascript,${encodeURIComponent(source("texts/en.js"))}`);
  const strings = new Set();
  /** @type {RegExp[]} */
  const patterns = [];
  /** @param {ts.Node} node */
  const visit = (node) => {
    if (ts.isStringLiteralLike(node)) strings.add(node.text);
    if (ts.isTemplateExpression(node)) {
      const pieces = [node.head.text, ...node.templateSpans.map(({ literal }) => literal.text)];
      const isKey = pieces.every((each) => /^[\w.]*$/.test(each)) && /[a-z]\.|\.[a-z]/.test(pieces.join("$"));
      if (isKey) patterns.push(new RegExp(`^${pieces.map((each) => each.replaceAll(".", "\\.")).join("[^.]+")}$`));
    }
    ts.forEachChild(node, visit);
  };
  for (const name of names) visit(ts.createSourceFile(name, source(name), ts.ScriptTarget.Latest));
  return Object.keys(texts).filter((key) => strings.has(key) || patterns.some((pattern) => pattern.test(key)));
}

/**
 * @returns {Promise<Record<string, string[]>>} under `*` what all views need; more by the path of the view, in which `:` is
 *   a number; under `texts/lists` the keys of the texts that the modules of the lists mention, and under `texts/publication`
 *   and `texts/signing_in` of those that no other modules mention
 */
async function preloads() {
  const { STYLES, views } = await import(`data:text/javascript,${encodeURIComponent(source("views.js"))}`);
  /** @type {Record<string, string[]>} */
  const found = { "*": withImports(ENTRIES) };
  const more = (/** @type {string} */ name) => !found["*"]?.includes(name);
  const pages = [];
  for (const { path, load, styles = STYLES, isList } of views) {
    const sheets = styles.map((/** @type {string} */ name) => `style/${name}.css`);
    const page = importsIn(load.toString(), "views.js");
    if (isList) pages.push(...page);
    found[path.replace(/:\w+/g, ":")] = [...withImports(page).filter(more), ...sheets];
  }
  found["texts/lists"] = await textsIn(withImports([...ENTRIES, ...pages], importsOfLists).filter((name) => !name.startsWith("vendor/")));
  const mentioning = modules.filter((name) => !name.startsWith("texts/"));
  // Signing in has no texts but its own and those of the lists.
  const [its, others] = [true, false].map((is) => textsIn(mentioning.filter((name) => OWN_TEXTS.sign_in.test(name) === is)));
  const elsewhere = new Set(await others);
  found["texts/lists"] = [...new Set([...found["texts/lists"], ...((await its) ?? []).filter((key) => elsewhere.has(key))])];
  for (const [part, pattern] of Object.entries(OWN_TEXTS)) {
    const elsewhere = new Set([...found["texts/lists"], ...(await textsIn(mentioning.filter((name) => !pattern.test(name))))]);
    found[`texts/${part}`] = (await textsIn(mentioning.filter((name) => pattern.test(name)))).filter((key) => !elsewhere.has(key));
  }
  return found;
}

const files = readdirSync(CONSOLE, { recursive: true, encoding: "utf8" });
const modules = files.filter((name) => name.endsWith(".js") && !name.startsWith("vendor/")).sort();
const found = cycle(new Map(modules.map((name) => [name, importsIn(source(name), name)])));
if (found) {
  console.error(`Import cycle: ${found.join(" -> ")}`);
  process.exitCode = 1;
}
const written = `${JSON.stringify(await preloads(), null, 1)}\n`;
if (process.argv.includes("--write")) writeFileSync(PRELOAD, written);
else if (!files.includes("preload.json") || source("preload.json") !== written) {
  console.error("preload.json is not current: run make preload");
  process.exitCode = 1;
}

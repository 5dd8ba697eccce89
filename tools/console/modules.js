/**
 * Checks how the console's modules import each other, dynamic imports included: there is no import cycle, what a list
 * shows is in the texts that lists load, and every text is shown somewhere.
 */
import { readFileSync, readdirSync } from "node:fs";
import { dirname, join, normalize } from "node:path/posix";
import { fileURLToPath } from "node:url";

import ts from "typescript";

const CONSOLE = fileURLToPath(new URL("../../src/logoadmin/entrypoints/console/", import.meta.url));
/** Modules that load with the texts of signing in. */
const SIGN_IN = /(^|\/)sign_in(_form)?\b/;

/** @param {string} name @returns {string} */
const source = (name) => readFileSync(CONSOLE + name, "utf8");

/** @param {string} text @param {string} from the module that contains it @returns {string[]} */
const importsIn = (text, from) =>
  ts.preProcessFile(text, true, true).importedFiles.map(({ fileName }) => normalize(join(dirname(from), fileName)));

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
  return importsIn(text, name).filter((each) => !later.has(each) && !SIGN_IN.test(each));
}

/** @param {string[]} names @returns {string[]} these modules, and all that they may load with no more texts */
function withImports(names) {
  const found = new Set(names);
  // The loop also visits the names that it adds.
  for (const name of found) for (const each of importsOfLists(name)) found.add(each);
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

/** @param {string} name @returns {Promise<any>} what a module exports that imports nothing */
const read = (name) => import(`data:text/javascript,${encodeURIComponent(source(name))}`);

/**
 * @param {string[]} names of modules
 * @returns {(key: string) => boolean} whether they mention a text; `failure.${kind}` mentions every key that fits
 */
function mentionedIn(names) {
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
  return (key) => strings.has(key) || patterns.some((pattern) => pattern.test(key));
}

/** @returns {Promise<string[]>} the keys of texts that a list shows although they are not among those that it loads */
async function missingInLists() {
  const { views } = await read("views.js");
  const pages = views.flatMap((/** @type {any} */ { isList, load }) => (isList ? importsIn(load.toString(), "views.js") : []));
  const lists = withImports(["app.js", ...pages]).filter((name) => !name.startsWith("vendor/") && !name.startsWith("texts/"));
  const mentions = mentionedIn(lists);
  const others = modules.filter((name) => /^texts\/en\/(?!lists)/.test(name)).map(async (name) => Object.keys((await read(name)).default));
  return (await Promise.all(others)).flat().filter(mentions);
}

/** @returns {Promise<string[]>} the keys of texts that no module mentions */
async function unusedTexts() {
  const isText = (/** @type {string} */ name) => name.startsWith("texts/");
  const mentions = mentionedIn(modules.filter((name) => !isText(name)));
  const texts = modules.filter(isText).map(async (name) => Object.keys((await read(name)).default));
  return [...new Set((await Promise.all(texts)).flat())].filter((key) => !mentions(key));
}

const files = readdirSync(CONSOLE, { recursive: true, encoding: "utf8" });
const modules = files.filter((name) => name.endsWith(".js") && !name.startsWith("vendor/")).sort();
const found = cycle(new Map(modules.map((name) => [name, importsIn(source(name), name)])));
if (found) {
  console.error(`Import cycle: ${found.join(" -> ")}`);
  process.exitCode = 1;
}
const missing = await missingInLists();
if (missing.length > 0) {
  console.error(`Lists mention texts that are not in texts/*/lists.js: ${missing.join(", ")}`);
  process.exitCode = 1;
}
const unused = await unusedTexts();
if (unused.length > 0) {
  console.error(`No module mentions these texts: ${unused.join(", ")}`);
  process.exitCode = 1;
}

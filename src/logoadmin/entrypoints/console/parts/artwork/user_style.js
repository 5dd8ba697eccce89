/** A user style (contract S3) that is pasted or dropped into the form of a theme, or chosen as a file, fills its fields. */
import { h, useRef, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { describe } from "../../notices.js";
import { listOf, readList } from "../../records.js";
import { enumeration, t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { FileButton, useGivenFiles } from "../primitives/given_files.js";
import { words } from "../primitives/fields.js";

/** @typedef {import("../../form.js").FormState} FormState */
/** @typedef {{filled: string[], lost: (() => string)[], before: import("../../form.js").Values} | {problem: () => string}} Outcome Its fields, and its sentences in whatever language. */

const STYLE = /^\ufeff?\s*\/\*!?\s*==UserStyle==/i;
/** What the service says about what could not be kept, and our words for it. @type {[RegExp, import("../../texts.js").TextKey][]} */
const LOST = [
  [/^@(\S+) is not kept\.$/, "style.lost.key"],
  [/^@(\S+) is left out: .*$/, "style.lost.value"],
  [/^@\S+ (\S+) is not understood and left out\.$/, "style.lost.variable"],
  [/^Of the settings of the style .*: (.*)\.$/, "style.lost.settings"],
  [/^The conditions of @-moz-document in line (\d+) cannot be read\.$/, "style.lost.line"],
];

/** @param {string} sentence Of the service. @returns {string} */
function lostWords(sentence) {
  for (const [pattern, key] of LOST) {
    const found = pattern.exec(sentence);
    if (found) return t(key, { what: found[1] ?? "" });
  }
  return sentence;
}

/** @param {Failure} error @returns {string} */
function problemWords(error) {
  const [problem] = error.problems;
  const compiler = /preprocessor (.+?): compile/.exec(problem?.msg ?? "")?.[1];
  return compiler ? t("style.preprocessor", { name: compiler }) : (problem?.msg ?? describe(error));
}

/** @param {readonly string[]} names @returns {Promise<{known: number[], missing: string[]}>} the authors of the gallery with these names */
async function authorsNamed(names) {
  if (names.length > 0) await readList("author");
  const ids = new Map(listOf("author").value.records?.map(({ username, author_id: id }) => [username, id]));
  return { known: names.flatMap((name) => ids.get(name) ?? []), missing: names.filter((name) => !ids.has(name)) };
}

/** Fill a form. @param {FormState} form @param {string} text @returns {Promise<Outcome>} */
async function fill(form, text) {
  const before = form.values.value;
  const set = (/** @type {Record<string, unknown>} */ values) => {
    const filled = Object.keys(values).filter((name) => form.fields.some((field) => field.name === name) && values[name] !== null);
    for (const name of filled) form.set(name, values[name]);
    return filled;
  };
  if (!STYLE.test(text)) return { filled: set({ custom_css: text }), lost: [], before };
  const { data } = await call("post", "/api/css/user-style", { body: { text } });
  // Submitters are the authors themselves.
  const { known, missing } = await authorsNamed(form.fields.some(({ name }) => name === "authors") ? data.authors : []);
  const details = Object.fromEntries(Object.entries(data.details).map(([name, value]) => [`details.${name}`, value]));
  /** @type {(() => string)[]} */
  const lost = data.lost.map((sentence) => () => lostWords(sentence));
  if (missing.length > 0) lost.push(() => t("style.lost.authors", { names: enumeration(missing) }));
  if (data.target === null) lost.push(() => data.documents.length > 0 ? t("style.lost.target", { documents: data.documents.join(", ") }) : t("style.lost.documents"));
  const filled = set({ name: data.name, target: data.target, authors: known.length > 0 ? known : null, ...details, custom_css: data.custom_css });
  return { filled, lost, before };
}

/** @param {{form: FormState, disabled: boolean}} props */
export function UserStyle({ form, disabled }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  const [busy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState(/** @type {Outcome | undefined} */ (undefined));
  const take = async (/** @type {File} */ file) => {
    setBusy(true);
    try {
      setOutcome(await fill(form, await file.text()));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setOutcome({ problem: () => problemWords(error) });
    } finally {
      setBusy(false);
    }
    place.current?.scrollIntoView({ block: "nearest" });
  };
  useGivenFiles(place, { within: "form", accepts: (type) => type === "text/css", pasted: styleIn, take: disabled ? undefined : (file) => void take(file) });
  if (disabled) return null;
  const putBack = (/** @type {import("../../form.js").Values} */ before) => {
    form.values.value = before;
    setOutcome(undefined);
  };
  return h("div", { ref: place, class: "stack tight" },
    h("div", { class: "cluster" },
      h(FileButton, { accept: ".css,text/css", busy, take: (file) => void take(file) }, t("style.choose")),
      h("span", { class: "hint" }, t("style.drop")),
    ),
    h("div", { role: "status" },
      outcome && "problem" in outcome && h("p", { class: "problem", dir: "auto" }, outcome.problem()),
      outcome && "filled" in outcome &&
        h("div", { class: "box panel stack" },
          h("p", null, t("style.filled", { fields: enumeration(outcome.filled.map((name) => words(name, "label"))) })),
          outcome.lost.length > 0 && h("ul", { class: "style-lost" }, outcome.lost.map((sentence, at) => h("li", { key: at, dir: "auto" }, sentence()))),
          h("div", { class: "cluster" }, h(Button, { icon: "Undo2", onClick: () => putBack(outcome.before) }, t("undo"))),
        ),
    ),
  );
}

/** @param {DataTransfer} data Of the clipboard. @returns {File | undefined} the user style in it */
function styleIn(data) {
  const text = data.getData("text/plain");
  return STYLE.test(text) ? new File([text], "") : undefined;
}

/**
 * Forms, made of the interface's own description: which fields, of what type, within which limits.
 *
 * @typedef {{type?: string, anyOf?: Schema[], minLength?: number, maxLength?: number, minimum?: number,
 *   maximum?: number, pattern?: string, default?: unknown, enum?: unknown[], items?: Schema,
 *   properties?: Record<string, Schema>, required?: string[]}} Schema
 * @typedef {object} Field
 * @property {string} name
 * @property {Schema} schema Of what it holds, where it holds something.
 * @property {boolean} required
 * @property {boolean} nullable
 * @property {import("./presentation.js").Widget} widget
 * @property {string} [label] The name under which its words are, where that is another one.
 * @property {(record: any) => unknown} [read] What it holds of a record, where that is not the field of its name.
 * @property {boolean} [isLink] Whether the usual request does not have it, see `authorship.js`.
 * @property {boolean} [isRare] Whether most do not need it, so that it is out of sight at first.
 * @typedef {Record<string, Schema>} Interface
 */
import { computed, signal } from "./vendor/preact.js";
import { readFile } from "./client.js";
import { flat, nested, presentation } from "./presentation.js";
import { FILES } from "./router.js";
import { t } from "./texts.js";

/** @type {Promise<Interface> | undefined} */
let asked;

/** @returns {Promise<Interface>} the body of each operation */
export function theInterface() {
  asked ??= readFile(new URL("interface.json", FILES)).catch((error) => {
    asked = undefined;
    throw error;
  });
  return asked;
}

/** The members of a request beside the fields of the record. */
const OPTIONS = ["unblock"];

/**
 * @param {Interface} described
 * @param {string} operation its id, such as `create_logo`
 * @param {KindName | "settings"} kind
 * @returns {Field[]} in the order of the presentation table, and then those that it does not name
 */
export function fieldsOf(described, operation, kind) {
  const body = described[operation] ?? {};
  const { order, apart = [], rare = [], widgets, links = [] } = presentation[kind];
  const rank = (/** @type {Field} */ { name }) => (order.includes(name) ? order.indexOf(name) : order.length);
  const { details, ...properties } = body.properties ?? {};
  /** @type {Record<string, Schema>} */
  const all = { ...properties, ...flat(/** @type {any} */ ({ details: details && known(details).properties })) };
  const names = Object.keys(all).filter((name) => !OPTIONS.includes(name) && !apart.includes(name));
  const own = names.map((name) => {
    const whole = /** @type {Schema} */ (all[name]);
    const schema = known(whole);
    return {
      name,
      schema,
      required: body.required?.includes(name) ?? false,
      nullable: whole.anyOf?.some((each) => each.type === "null") ?? false,
      widget: widgets[name] ?? widgetOf(schema),
      isRare: rare.includes(name),
    };
  });
  return [...own, ...links].toSorted((a, b) => rank(a) - rank(b));
}

/** @param {Schema} whole @returns {Schema} of what it holds, where it holds something */
const known = (whole) => whole.anyOf?.find((each) => each.type !== "null") ?? whole;

/** @param {Schema} schema @returns {import("./presentation.js").Widget} */
function widgetOf(schema) {
  if (schema.type === "boolean") return "switch";
  if (schema.type === "integer") return "number";
  return "text";
}

/** @typedef {Record<string, unknown>} Values */

/** The input of a form, its problems, and the values that it started from. */
export class FormState {
  /** @param {Field[]} fields @param {Values} initial the current values @param {string} [kind] of the record */
  constructor(fields, initial, kind = "") {
    this.fields = fields;
    this.kind = kind;
    /** The values that it started from. */
    this.base = signal(this.#known(initial));
    /** The current values; numbers are text until they are sent. */
    this.values = signal(this.base.value);
    /** The problem of each field, as text. @type {Signal<Record<string, string>>} */
    this.problems = signal({});
    this.isChanged = computed(() => this.fields.some(({ name }) => !same(this.values.value[name], this.base.value[name])));
  }

  /** @param {Values} given @returns {Values} */
  #known(given) {
    const values = flat(given);
    return Object.fromEntries(
      this.fields.map((field) => [field.name, (field.read ? field.read(given) : values[field.name]) ?? emptyOf(field)]),
    );
  }

  /** @param {Field} field @returns {boolean} whether it cannot be left empty; a choice never is */
  requires(field) {
    return field.widget !== "role" && problemOf(field, emptyOf(field)) !== undefined;
  }

  /** @param {string} name @param {unknown} value */
  set(name, value) {
    this.values.value = { ...this.values.value, [name]: value };
    if (this.problems.value[name]) {
      const { [name]: _, ...others } = this.problems.value;
      this.problems.value = others;
    }
  }

  /** Take the values of another record as input, with its name marked as that of a copy. @param {Values} record @param {string} name of the field */
  fill(record, name) {
    const mark = ` ${t("copy.mark")}`;
    const most = this.fields.find((field) => field.name === name)?.schema.maxLength ?? Infinity;
    const original = [...String(record[name])].slice(0, most - mark.length).join("");
    const fixed = this.fields.filter(({ widget }) => widget === "fixed").map((field) => [field.name, emptyOf(field)]);
    this.values.value = { ...this.#known(record), ...Object.fromEntries(fixed), [name]: original + mark };
  }

  /** Begin again from a record that was saved or read. @param {Values} record */
  restart(record) {
    this.base.value = this.#known(record);
    this.values.value = this.base.value;
    this.problems.value = {};
  }

  /** Continue from a record that was just written. Its responses never contain a password, which is no longer unsaved. @param {Values} record */
  saved(record) {
    const secrets = this.fields.filter(({ widget }) => widget === "password");
    this.values.value = { ...this.values.value, ...Object.fromEntries(secrets.map((field) => [field.name, emptyOf(field)])) };
    this.rebase(record);
  }

  /** Start from another record, and keep the input. @param {Values} record */
  rebase(record) {
    const base = this.#known(record);
    const typed = this.fields.filter(({ name }) => !same(this.values.value[name], this.base.value[name]));
    this.values.value = { ...base, ...Object.fromEntries(typed.map(({ name }) => [name, this.values.value[name]])) };
    this.base.value = base;
  }

  /**
   * The fields that differ, here or in a version that somebody else wrote meanwhile.
   * @param {Values} record
   * @returns {{field: Field, base: unknown, mine: unknown, theirs: unknown, isMine: boolean, isTheirs: boolean}[]}
   */
  against(record) {
    const known = this.#known(record);
    return this.fields
      .map((field) => {
        const [base, mine, theirs] = [this.base.value[field.name], this.values.value[field.name], known[field.name]];
        return { field, base, mine, theirs, isMine: !same(mine, base), isTheirs: !same(theirs, base) };
      })
      .filter(({ mine, theirs }) => !same(mine, theirs));
  }

  /** Start from another user's version, with the chosen values. @param {Values} record @param {Values} decided */
  resolve(record, decided) {
    this.base.value = this.#known(record);
    this.values.value = { ...this.base.value, ...decided };
    this.problems.value = {};
  }

  /** @returns {boolean} whether all input is valid; otherwise sets the problems */
  check() {
    /** @type {Record<string, string>} */
    const found = {};
    for (const field of this.fields) {
      const problem = problemOf(field, this.values.value[field.name]);
      if (problem) found[field.name] = problem;
    }
    this.problems.value = found;
    return Object.keys(found).length === 0;
  }

  /** Show the problems from the service at their fields. @param {Problem[]} problems @returns {string[]} the problems without a field in this form */
  take(problems) {
    /** @type {Record<string, string>} */
    const found = {};
    const others = [];
    for (const problem of problems) {
      const { loc } = problem;
      const [, whole = "", member, item] = loc;
      const name = whole === "details" ? `details.${member}` : String(whole);
      const words = typeof item === "number" ? t("problem.item", { n: item + 1, problem: wordsOf(problem) }) : wordsOf(problem);
      if (loc[0] === "body" && this.fields.some((field) => field.name === name)) found[name] ??= words;
      else others.push(`${loc.join(" › ")}: ${problem.msg}`);
    }
    this.problems.value = found;
    return others;
  }

  /** Report at the longest text that the form as a whole is too large. */
  tooLarge() {
    const size = (/** @type {Field} */ { name }) => new Blob([String(this.values.value[name] ?? "")]).size;
    const [longest] = this.fields.toSorted((a, b) => size(b) - size(a));
    if (longest) this.problems.value = { [longest.name]: t("problem.tooLarge", { n: Math.ceil(size(longest) / 1000) }) };
  }

  /** @returns {Values} what a creation sends */
  get whole() {
    return this.#sent(this.fields.filter((field) => !field.isLink && (field.required || !same(this.values.value[field.name], emptyOf(field)))));
  }

  /** @returns {Values} what an amendment sends: the fields that were changed */
  get changed() {
    return this.changedFrom(this.base.value);
  }

  /** @param {Values} base of a record @returns {Values} what an amendment of that record sends */
  changedFrom(base) {
    return this.#sent(this.fields.filter(({ name, isLink }) => !isLink && !same(this.values.value[name], base[name])));
  }

  /** @param {Field[]} fields @returns {Values} */
  #sent(fields) {
    return nested(Object.fromEntries(fields.map((field) => [field.name, sentOf(field, this.values.value[field.name])])));
  }
}

/** @param {Field} field @returns {unknown} */
function emptyOf({ schema, nullable }) {
  if (schema.default !== undefined && schema.default !== null) return schema.default;
  if (schema.type === "boolean") return false;
  if (schema.type === "array") return [];
  return nullable ? null : "";
}

/** @param {Field} field @param {unknown} value @returns {unknown} */
function sentOf(field, value) {
  if (field.schema.type === "integer" && typeof value === "string") return Number(value);
  if (field.nullable && value === "") return null;
  return value;
}

/** Whether a form that holds one would send the other: a number is text while it is typed. @param {unknown} a @param {unknown} b */
const same = (a, b) => (typeof a === "object" && a !== null ? JSON.stringify(a) === JSON.stringify(b) : String(a ?? "") === String(b ?? ""));

/** @param {Pick<Field, "schema" | "required" | "nullable">} field @param {unknown} value @returns {string | undefined} what is wrong, in words */
export function problemOf({ schema, required, nullable }, value) {
  if (schema.type === "integer") return problemOfNumber(schema, String(value ?? ""));
  if (typeof value !== "string") return value === null && !nullable && required ? t("problem.missing") : undefined;
  // As the service counts: code points, and not the halves of which JavaScript makes some.
  const length = [...value].length;
  if (nullable && length === 0) return undefined;
  if (length === 0 && (schema.minLength || schema.pattern?.startsWith("^["))) {
    if (schema.minLength || !new RegExp(schema.pattern ?? "", "u").test("")) return t("problem.missing");
  }
  if (schema.minLength && length < schema.minLength) return t("problem.short", { n: schema.minLength });
  if (schema.maxLength !== undefined && length > schema.maxLength) {
    return t("problem.long", { n: schema.maxLength, over: length - schema.maxLength });
  }
  const isUrl = schema.pattern?.includes("[Hh]");
  // HTML's own `pattern` would read it with other rules.
  if (schema.pattern && !new RegExp(schema.pattern, "u").test(value)) return t(isUrl ? "problem.url" : "problem.pattern");
  // Everybody who sees the picture could read them.
  return isUrl && /^[^/]*\/\/[^/?#]*@/.test(value) ? t("problem.credentials") : undefined;
}

/** @param {Schema} schema @param {string} text */
function problemOfNumber({ minimum = 0, maximum = 2147483647 }, text) {
  if (text.trim() === "") return t("problem.missing");
  if (!/^\d+$/.test(text)) return t("problem.number");
  return Number(text) < minimum || Number(text) > maximum ? t("problem.range", { from: minimum, to: maximum }) : undefined;
}

/** @type {Record<string, TextKey>} By the type of a problem, as the service names it. */
const WORDS = {
  greater_than_equal: "line.range",
  int_from_float: "problem.number",
  int_parsing: "problem.number",
  int_type: "problem.number",
  less_than_equal: "line.range",
  missing: "problem.missing",
  string_pattern_mismatch: "problem.pattern",
  string_too_short: "problem.missing",
  url_parsing: "problem.url",
};

/** Problems of values from the service, in the user's language. @param {Problem} problem @returns {string} */
export function wordsOf({ type, msg }) {
  const [, bound, n] = /at (most|least) (\d+) characters?$/.exec(msg) ?? [];
  if (Number(n) > 1) return t(bound === "most" ? "problem.most" : "problem.short", { n: Number(n) });
  if (msg.endsWith("most common ones")) return t("problem.common");
  const key = WORDS[type];
  return key ? t(key) : msg;
}

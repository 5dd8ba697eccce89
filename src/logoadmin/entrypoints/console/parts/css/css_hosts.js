/**
 * Which hosts CSS would contact: every address in `url()`, `src()`, `image-set()`, `image()` and `@import`, however it is
 * written. It follows the tokens of CSS Syntax 3, since what it overlooks would be missing from what a person is shown.
 * Nothing is let through by this list: that is decided by the policy of the page that shows the CSS.
 *
 * @typedef {object} Import
 * @property {string} url
 * @property {string} media The media query behind it, empty where there is none.
 * @typedef {object} Contacts
 * @property {string[]} origins Such as `https://example.org`, each once, in order.
 * @property {string[]} fonts The origins that serve fonts.
 * @property {Import[]} imports What `@import` names, where a browser would follow it.
 * @property {boolean} own Whether it asks the site itself for something, by a relative address.
 * @property {string} rest The CSS without the imports that browsers would follow.
 *
 * @typedef {"url" | "string" | "function" | "name" | "at" | "other"} TokenType
 * @typedef {{type: TokenType, value: string, from: number, to: number}} Token
 */

/** Of these functions, a text is an address. */
const TAKING = new Set(["url", "src", "image-set", "-webkit-image-set", "image"]);
/** In the head of these, an address is a name. */
const NAMING = /^(namespace|(-\w+-)?document)$/;
/** A host that there cannot be: what is found there was relative. */
const NOWHERE = "relative.invalid";

// Read in one way alone: in several, a text of a hundred characters could be tried for hours.
const HEX = String.raw`(?:[0-9a-fA-F]{6}|[0-9a-fA-F]{1,5}(?![0-9a-fA-F]))`;
const ESCAPE = String.raw`\\(?:${HEX}[ \t\n]?|[^\n0-9a-fA-F])`;
const CHARACTER = String.raw`(?:[\w\-\u0080-\uffff]|${ESCAPE})`;
const NAME = String.raw`(?:--|-?(?:[a-zA-Z_\u0080-\uffff]|${ESCAPE}))${CHARACTER}*`;
const TOKEN = new RegExp(
  [
    String.raw`(?<blank>/\*[^]*?(?:\*/|$)|[ \t\n]+|<!--|-->)`,
    String.raw`"(?<double>(?:[^"\\\n]|\\[^])*)(?:"|$|(?=\n))`,
    String.raw`'(?<single>(?:[^'\\\n]|\\[^])*)(?:'|$|(?=\n))`,
    String.raw`(?:[+\-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+\-]?\d+)?(?:%|${NAME})?|#${CHARACTER}+)`,
    String.raw`@(?<at>${NAME})`,
    String.raw`(?<name>${NAME})(?<call>\()?`,
    "[^]",
  ].join("|"),
  "y",
);
const UNQUOTED = new RegExp(String.raw`[ \t\n]*(?:((?:[^"'()\\\s\x00-\x08\x0b\x0e-\x1f\x7f]|${ESCAPE})+)[ \t\n]*)?(?:\)|$)`, "y");
const QUOTE = /[ \t\n]*["']/y;
/** A comment; the end of the text also ends it. */
const COMMENT = /\/\*[^]*?(?:\*\/|$)/g;
const BAD_URL = /(?:[^)\\]|\\[^])*\)?/y;

/** @param {string} css A sheet, or a list of declarations. @param {string} [scheme] Of the site that uses it, for addresses that begin with `//`. @returns {Contacts} */
export function contactsOf(css, scheme = "https:") {
  /** @type {Set<string>} */
  const origins = new Set();
  /** @type {Set<string>} */
  const fonts = new Set();
  /** @type {Import[]} */
  const imports = [];
  let own = false;
  let rest = "";
  let done = 0;
  const text = css.replace(/\r\n?|\f/g, "\n");
  for (const { address, media, isFont, from, to } of addressesIn(text)) {
    if (media !== undefined) {
      rest += text.slice(done, from);
      done = to;
    }
    const url = resolved(address, scheme);
    if (url === undefined) continue;
    if (url.hostname === NOWHERE) own = true;
    else if (/^(https?|ftp):$/.test(url.protocol)) {
      origins.add(url.origin);
      if (isFont) fonts.add(url.origin);
      if (media !== undefined) imports.push({ url: url.href, media });
    }
  }
  return { origins: [...origins], fonts: [...fonts], imports, own, rest: rest + text.slice(done) };
}

/**
 * Leave out every address that shall not be asked for, so that a browser does not even try: what is empty leads nowhere.
 *
 * @param {string} css Without the imports that browsers would follow.
 * @param {(origin: string, isFont: boolean) => boolean} isReached
 * @param {string} [scheme] As above.
 * @returns {string}
 */
export function withheld(css, isReached, scheme = "https:") {
  let left = "";
  let done = 0;
  for (const { address, media, isFont, from, to } of addressesIn(css)) {
    const url = resolved(address, scheme);
    const isElsewhere = url !== undefined && /^https?:$/.test(url.protocol) && url.hostname !== NOWHERE;
    // Data URLs contact no host.
    const isKept = url?.protocol === "data:" || (isElsewhere && isReached(url.origin, isFont));
    if (isKept || media !== undefined || from < done) continue;
    const quote = /["']/.exec(css.charAt(from))?.[0];
    left += css.slice(done, from) + (quote ? quote + (css.charAt(to - 1) === quote ? quote : "") : "url()");
    done = to;
  }
  return left + css.slice(done);
}

/** The deepest nesting of blocks, more than anybody writes; at some ten thousands browsers crash with the whole page. */
const DEEPEST = 200;
/** @type {Record<string, string>} */
const CLOSING = { "{": "}", "(": ")", "[": "]" };

/** @param {string} css @returns {boolean} whether its blocks are too deep in one another to be shown */
export function isTooDeep(css) {
  /** @type {string[]} */
  const open = [];
  for (const { type, value } of tokensOf(css.replace(/\r\n?|\f/g, "\n"))) {
    const closing = type === "function" ? ")" : type === "other" ? CLOSING[value] : undefined;
    if (closing) open.push(closing);
    else if (type === "other" && value === open.at(-1)) open.pop();
    if (open.length > DEEPEST) return true;
  }
  return false;
}

/** @param {string} address @param {string} scheme @returns {URL | undefined} read as browsers do */
function resolved(address, scheme) {
  try {
    return new URL(address, `${scheme}//${NOWHERE}/`);
  } catch {
    return undefined;
  }
}

/**
 * Where a reading is: which functions are open, and what the statement is of which the next token is part.
 *
 * @typedef {object} Reading
 * @property {string[]} open The functions that are not closed, `(` and `[` among them.
 * @property {Token[]} head The first two tokens of the statement.
 * @property {Token | undefined} imported What the statement imports.
 * @property {boolean} isAhead Whether nothing precedes the statement that ends the imports.
 */

/**
 * @typedef {object} Found
 * @property {string} address
 * @property {number} from Where it is written; of an import that is followed, the whole statement.
 * @property {number} to
 * @property {string} [media] Of an import that is followed.
 * @property {boolean} isFont
 */

/** @param {string} css @returns {Generator<Found>} */
function* addressesIn(css) {
  /** @type {Reading} */
  const reading = { open: [], head: [], imported: undefined, isAhead: true };
  for (const token of tokensOf(css)) {
    const { value } = token;
    const isEnd = token.type === "other" && /^[{};]$/.test(value) && reading.open.length === 0;
    if (isEnd) {
      if (reading.imported && value === ";") yield followed(css, reading, token.from, token.to);
      if (value !== ";" || !/^(charset|layer|import)$/.test(keyword(reading))) reading.isAhead = false;
      reading.head = [];
      reading.imported = undefined;
      continue;
    }
    if (reading.head.length < 2) reading.head.push(token);
    if (isImport(token, reading)) reading.imported = token;
    else if (isAddress(token, reading)) yield { address: value, from: token.from, to: token.to, isFont: isOfFont(reading) };
    if (token.type === "function") reading.open.push(value);
    else if (token.type === "other" && (value === "(" || value === "[")) reading.open.push(value);
    else if (token.type === "other" && (value === ")" || value === "]")) reading.open.pop();
  }
  // The end of the text also ends a statement.
  if (reading.imported) yield followed(css, reading, css.length, css.length);
}

/** @param {Reading} reading @returns {string} the name of the at-rule; empty for other statements */
const keyword = ({ head: [first] }) => (first?.type === "at" ? first.value : "");

/** @param {Token} token @param {Reading} reading */
function isImport({ type }, reading) {
  const { open, imported } = reading;
  if (keyword(reading) !== "import" || imported) return false;
  return type === "url" || (type === "string" && (open.length === 0 || TAKING.has(open.at(-1) ?? "")));
}

/** @param {Token} token @param {Reading} reading */
function isAddress({ type, value }, reading) {
  if (NAMING.test(keyword(reading))) return false;
  if (type === "url") return true;
  if (type !== "string") return false;
  if (TAKING.has(reading.open.at(-1) ?? "")) return true;
  // The value of a custom property may be used as an address.
  const [first, second] = reading.head;
  const isCustom = first?.type === "name" && first.value.startsWith("--") && second?.value === ":";
  return isCustom && /^\s*(https?:)?[\\/]{2}/i.test(value);
}

/** Whether the declaration has the address of a font. @param {Reading} reading */
const isOfFont = ({ head: [first, second] }) => first?.type === "name" && /^src$/i.test(first.value) && second?.value === ":";

/** @param {string} css @param {Reading} reading @param {number} end Of its conditions. @param {number} to @returns {Found} */
function followed(css, { imported, isAhead, head: [first] }, end, to) {
  const { value: address, from, to: begin } = /** @type {Token} */ (imported);
  if (!isAhead) return { address, from, to: begin, isFont: false };
  const conditions = css.slice(begin, end).replace(/^\s*\)/, "").replace(COMMENT, " ");
  const nested = String.raw`\((?:[^()]|\([^()]*\))*\)`;
  const media = conditions.replace(new RegExp(String.raw`\b(?:layer(?:${nested})?|supports${nested})(?=\s|$|,)`, "gi"), " ").trim();
  return { address, media, from: first?.from ?? 0, to, isFont: false };
}

/** @param {string} css without carriage returns @returns {Generator<Token>} all but blanks and comments */
function* tokensOf(css) {
  for (let from = 0; from < css.length; ) {
    TOKEN.lastIndex = from;
    const { 0: text, groups = {} } = /** @type {RegExpExecArray} */ (TOKEN.exec(css));
    let to = from + text.length;
    const name = groups.name === undefined ? undefined : unescaped(groups.name);
    const quoted = groups.double ?? groups.single;
    UNQUOTED.lastIndex = BAD_URL.lastIndex = QUOTE.lastIndex = to;
    if (groups.call && name?.toLowerCase() === "url" && !QUOTE.test(css)) {
      const found = UNQUOTED.exec(css);
      to += (found ?? /** @type {RegExpExecArray} */ (BAD_URL.exec(css)))[0].length;
      if (found) yield { type: "url", value: unescaped(found[1] ?? ""), from, to };
    } else if (quoted !== undefined) yield { type: "string", value: unescaped(quoted), from, to };
    else if (groups.at !== undefined) yield { type: "at", value: unescaped(groups.at).toLowerCase(), from, to };
    else if (groups.call) yield { type: "function", value: (name ?? "").toLowerCase(), from, to };
    else if (name !== undefined) yield { type: "name", value: name, from, to };
    else if (groups.blank === undefined) yield { type: "other", value: text, from, to };
    from = to;
  }
}

/** @param {string} text @returns {string} what its escapes stand for */
function unescaped(text) {
  return text.replace(/\\(?:([0-9a-fA-F]{1,6})[ \t\n]?|(\n)|([^]))/g, (_, code, newline, character) => {
    if (newline) return "";
    if (character) return character;
    const point = parseInt(code, 16);
    const isNone = point === 0 || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff);
    return isNone ? "\ufffd" : String.fromCodePoint(point);
  });
}

/** The beginning of a rule for some pages. */
const DOCUMENT = /@(?:-moz-)?document\b(?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|[^"'{};@\\])*\{/gi;

/** @param {string} css @returns {string} in which rules for some pages alone, which are for managers of user styles, apply to all: browsers skip them */
export const onAllPages = (css) => css.replace(DOCUMENT, "@media all{");

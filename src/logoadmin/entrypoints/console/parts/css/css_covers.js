/**
 * Whether a block of CSS covers the whole page, with everything on it. Only what certainly does is found: a false alarm
 * would teach people to ignore the others.
 *
 * @typedef {import("../../vendor/codemirror.js").EditorState} State
 * @typedef {import("@lezer/common").SyntaxNode} Node
 */

/** What is on the edge of the window, or beyond it. @param {string} [side] */
const isOutside = (side = "auto") => parseFloat(side) <= 0;
/** What moves nothing away from the edge. @param {string} [side] */
const isUnmoved = (side = "auto") => side === "auto" || parseFloat(side) === 0;
/** At least the window. @param {string} [size] */
const isWhole = (size = "auto") => /^\d+(\.\d+)?(%|[sld]?v[whib]|vmax)$/.test(size) && parseFloat(size) >= 100;

/**
 * @param {State} state
 * @param {Node} block A block, or the top of a list of declarations.
 * @returns {Node | undefined} the declaration of its position, if it covers the page
 */
export function covering(state, block) {
  /** @type {Record<string, string>} */
  const values = {};
  let fixed;
  for (const declaration of block.getChildren("Declaration")) {
    const [name = "", value = ""] = state.sliceDoc(declaration.from, declaration.to).toLowerCase().split(":", 2);
    values[name.trim()] = value.replace(/!\s*important\s*$/, "").trim();
    if (name.trim() === "position") fixed = declaration;
  }
  if (values["position"] !== "fixed" || isHarmless(values)) return undefined;
  const [all, right = all, bottom = all, left = right] = values["inset"]?.split(/\s+/) ?? [];
  const across = coversOne(values["left"] ?? left, values["right"] ?? right, values["width"], values["min-width"]);
  return across && coversOne(values["top"] ?? all, values["bottom"] ?? bottom, values["height"], values["min-height"]) ? fixed : undefined;
}

/** Out of sight, behind the page, or transparent for clicks, as backgrounds are. @param {Record<string, string>} values */
const isHarmless = (values) =>
  values["display"] === "none" ||
  values["visibility"] === "hidden" ||
  values["pointer-events"] === "none" ||
  values["z-index"]?.startsWith("-") ||
  Object.hasOwn(values, "transform") ||
  Object.hasOwn(values, "translate");

/** @param {string | undefined} start @param {string | undefined} end @param {(string | undefined)[]} sizes */
const coversOne = (start, end, ...sizes) =>
  (sizes.every((size = "auto") => size === "auto") && isOutside(start) && isOutside(end)) || (sizes.some(isWhole) && isUnmoved(start) && isUnmoved(end));

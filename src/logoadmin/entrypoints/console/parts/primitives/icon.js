/** Icons of Lucide (lucide.dev), drawn in the colour of the text around them; `vendor/icons.d.ts` names those there are. */
import { h } from "../../vendor/preact.js";
import * as icons from "../../vendor/icons.js";

/** @typedef {keyof typeof icons} IconName */

/** @param {{name: IconName}} props Screen readers skip it, so it needs words beside it or a label around it. */
export function Icon({ name }) {
  const parts = icons[name].map(([tag, attributes], at) => h(tag, { key: at, ...attributes }));
  return h("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": true }, parts);
}

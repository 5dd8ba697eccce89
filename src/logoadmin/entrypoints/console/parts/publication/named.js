/** A logo or theme by its name, where that is known, with its kind and id. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf } from "../../records.js";
import { t } from "../../texts.js";
import { Link } from "../primitives/basics.js";

/** @param {{kind: string, id: number, name?: string}} props */
export function Named({ kind: itsKind, id, name }) {
  const kind = itsKind === "logo" ? "logo" : "theme";
  const record = listOf(kind).value.records?.find((/** @type {any} */ each) => each[KINDS[kind].id] === id) ?? (name ? { name, [KINDS[kind].id]: id } : undefined);
  const words = `${t(`${kind}.title`)} ${id}`;
  return h("div", { class: "spread" }, h(Link, { to: `${kind}s/${id}`, class: "row-name", dir: "auto" }, record ? nameOf(kind, record) : words), record && h("span", { class: "hint" }, words));
}

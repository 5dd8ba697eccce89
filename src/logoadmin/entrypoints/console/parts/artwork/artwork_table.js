/** Logos or themes as rows: more of them at a time, and when each was made. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { ActiveSwitch, SelectBox } from "./artwork_controls.js";
import { Link } from "../primitives/basics.js";
import { Table } from "../lists/table.js";

/** @param {{kind: "logo" | "theme", artworks: any[], selection: import("../lists/selection.js").Selection}} props */
export function ArtworkTable({ kind, artworks, selection }) {
  const { id } = KINDS[kind];
  return h(Table, {
    records: artworks,
    id: (/** @type {any} */ artwork) => artwork[id],
    label: t(`${kind}s.title`),
    columns: [
      {
        name: "name",
        title: t("field.name"),
        cell: (/** @type {any} */ artwork) =>
          h(
            "span",
            { class: "cell-selectable" },
            h(SelectBox, { selection, id: artwork[id], name: nameOf(kind, artwork) }),
            h(Link, { to: `${kind}s/${artwork[id]}`, class: "cell-link", dir: "auto", title: artwork.name }, nameOf(kind, artwork)),
          ),
      },
      { name: "target", title: t("field.target") },
      { name: "active", title: t("field.active"), cell: (/** @type {any} */ artwork) => h(ActiveSwitch, { kind, artwork }) },
      {
        name: "authors",
        title: t("field.authors"),
        cell: (/** @type {any} */ artwork) => h("bdi", null, artwork.authors.map((/** @type {any} */ author) => nameOf("author", author)).join(", ")),
      },
      { name: "created_at", title: t("field.created_at") },
    ],
  });
}

/** Logos or themes as rows: more of them at a time, and sortable. */
import { h } from "../../vendor/preact.js";
import { creditsOf, nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { SelectBox } from "../lists/selection.js";
import { Link } from "../primitives/basics.js";
import { Picture } from "../primitives/picture.js";
import { Table } from "../lists/table.js";
import { States } from "./artwork_states.js";

/** @param {{kind: "logo" | "theme", artworks: any[], selection: ListSelection}} props */
export function ArtworkTable({ kind, artworks, selection }) {
  const { id } = KINDS[kind];
  const name = (/** @type {any} */ artwork) =>
    h("span", { class: "cell-selectable" },
      h(SelectBox, { selection, id: artwork[id], name: nameOf(kind, artwork) }),
      h(Picture, { kind, url: artwork.preview_url }),
      h(Link, { to: `${kind}s/${artwork[id]}`, class: "cell-link", dir: "auto", title: artwork.name }, nameOf(kind, artwork)),
    );
  return h(Table, {
    records: artworks,
    id: (/** @type {any} */ artwork) => artwork[id],
    label: t(`${kind}s.title`),
    selection,
    columns: [
      { name: "name", title: t("field.name"), cell: name, sort: "name" },
      { name: "target", title: t("field.target") },
      { name: "authors", title: t("field.authors"), type: "wide", cell: creditsOf },
      { name: "state", title: t("field.state"), cell: (artwork) => h(States, { kind, artwork }) },
      { name: "changed_at", title: t("field.changed"), sort: "changed" },
      { name: id, title: t("field.id"), type: "number" },
    ],
  });
}

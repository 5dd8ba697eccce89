/** Logos or themes as rows: more of them at a time, with the columns that the user wants, and sortable. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { SelectBox, States } from "./artwork_controls.js";
import { Link, Time } from "../primitives/basics.js";
import { Picture } from "../primitives/picture.js";
import { density } from "../lists/density.js";
import { Table } from "../lists/table.js";
import { shownColumns } from "../lists/view_choices.js";

const ROWS = { comfortable: 44, compact: 32 };

/** @param {{kind: "logo" | "theme", artworks: any[], selection: import("../lists/selection.js").Selection}} props */
export function ArtworkTable({ kind, artworks, selection }) {
  const { id } = KINDS[kind];
  const shown = shownColumns();
  const cells = cellsOf(kind);
  const name = (/** @type {any} */ artwork) =>
    h(
      "span",
      { class: "cell-selectable" },
      h(SelectBox, { selection, id: artwork[id], name: nameOf(kind, artwork) }),
      shown.includes("preview_url") && h(Picture, { url: artwork.preview_url }),
      h(Link, { to: `${kind}s/${artwork[id]}`, class: "cell-link", dir: "auto", title: artwork.name }, nameOf(kind, artwork)),
    );
  return h(Table, {
    records: artworks,
    id: (/** @type {any} */ artwork) => artwork[id],
    label: t(`${kind}s.title`),
    rowHeight: ROWS[density.value],
    selection,
    columns: [
      { name: "name", title: t("field.name"), cell: name, sort: "name" },
      ...shown.filter((each) => each !== "preview_url").map((each) => ({ name: each, title: t(`field.${each}`), ...cells[each] })),
    ],
  });
}

/** @param {"logo" | "theme"} kind @returns {Record<string, Partial<import("../lists/table.js").Column>>} */
function cellsOf(kind) {
  return {
    authors: { cell: (artwork) => h("bdi", null, artwork.authors.map((/** @type {any} */ author) => nameOf("author", author)).join(", ")) },
    state: { cell: (artwork) => h(States, { kind, artwork }) },
    created_at: { sort: "created_at" },
    changed: { sort: "changed", cell: (artwork) => h(Time, { seconds: artwork.changed_at }) },
    id: { type: "number", sort: "id", cell: (artwork) => artwork[KINDS[kind].id] },
  };
}

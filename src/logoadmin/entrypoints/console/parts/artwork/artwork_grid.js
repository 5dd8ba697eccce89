/** Logos or themes as cards: with the picture first and the most frequent actions on each card. */
import { h, useMemo } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { ActiveSwitch, SelectBox } from "./artwork_controls.js";
import { Link } from "../primitives/basics.js";
import { Grid } from "../lists/grid.js";
import { Picture } from "../primitives/picture.js";

/** @typedef {import("../../pages/artworks.js").Artwork} Artwork */

/** @param {{kind: "logo" | "theme", artworks: Artwork[], selection: import("../lists/selection.js").Selection}} props */
export function ArtworkGrid({ kind, artworks, selection }) {
  const { id } = KINDS[kind];
  const card = useMemo(() => cardOf(kind, selection), [kind, selection]);
  return h(Grid, {
    items: artworks,
    id: (/** @type {any} */ artwork) => artwork[id],
    label: t(`${kind}s.title`),
    cardWidth: 200,
    cardHeight: 220,
    card,
    onKey: (event, artwork) => {
      if (event.key === " ") selection.toggle(artwork[id], event.shiftKey);
      else if (event.key === "a" && (event.ctrlKey || event.metaKey)) selection.set(selection.shown());
      else if (event.key === "Escape" && selection.ids.value.size > 0) selection.set([]);
      else return;
      event.preventDefault();
    },
  });
}

/** @param {"logo" | "theme"} kind @param {import("../lists/selection.js").Selection} selection */
function cardOf(kind, selection) {
  const { id } = KINDS[kind];
  return (/** @type {import("../lists/grid.js").CardProps} */ { item, withPicture, tabIndex }) => {
    const selected = selection.ids.value.has(item[id]);
    return h(
      "article",
      { class: `box card${item.active ? "" : " inactive"}${selected ? " selected" : ""}` },
      h(Picture, { url: item.preview_url, shown: withPicture }),
      h(Link, { to: `${kind}s/${item[id]}`, class: "card-name", "data-focus": true, tabIndex, dir: "auto", title: item.name }, nameOf(kind, item)),
      h("div", { class: "card-authors", dir: "auto" }, item.authors.map((/** @type {any} */ author) => nameOf("author", author)).join(", ")),
      h("div", { class: "card-foot" }, h("bdi", { class: "card-target" }, item.target), h(ActiveSwitch, { kind, artwork: item, tabIndex })),
      h(SelectBox, { selection, id: item[id], name: nameOf(kind, item), tabIndex }),
    );
  };
}

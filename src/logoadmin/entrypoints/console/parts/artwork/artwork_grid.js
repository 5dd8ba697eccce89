/** Logos or themes as cards: with the picture first. */
import { h, useMemo } from "../../vendor/preact.js";
import { creditsOf, nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { SelectBox } from "../lists/selection.js";
import { Link } from "../primitives/basics.js";
import { Grid } from "../lists/grid.js";
import { Picture } from "../primitives/picture.js";
import { States } from "./artwork_states.js";

/** @typedef {import("../../pages/artworks.js").Artwork} Artwork */

/** @param {{kind: "logo" | "theme", artworks: Artwork[], selection: ListSelection}} props */
export function ArtworkGrid({ kind, artworks, selection }) {
  const { id } = KINDS[kind];
  const card = useMemo(() => cardOf(kind, selection), [kind, selection]);
  return h(Grid, {
    items: artworks,
    id: (/** @type {any} */ artwork) => artwork[id],
    label: t(`${kind}s.title`),
    // The picture of a theme has about 16:10.
    ...(kind === "theme" ? { cardWidth: 200, cardHeight: 188 } : { cardWidth: 160, cardHeight: 136 }),
    card,
    selection,
  });
}

/** @param {"logo" | "theme"} kind @param {ListSelection} selection */
function cardOf(kind, selection) {
  const { id } = KINDS[kind];
  return (/** @type {import("../lists/grid.js").CardProps} */ { item, withPicture, tabIndex }) => {
    const authors = creditsOf(item);
    const selected = selection.ids.value.has(item[id]);
    return h("article", { class: `box card${item.active ? "" : " inactive"}${selected ? " selected" : ""}` },
      h(Picture, { kind, url: item.preview_url, shown: withPicture }),
      h(Link, { to: `${kind}s/${item[id]}`, class: "clip card-name", "data-focus": true, tabIndex, dir: "auto", title: item.name }, nameOf(kind, item)),
      h("div", { class: "clip card-about" }, h("bdi", null, item.target), authors && ` · ${authors}`),
      h(States, { kind, artwork: item }),
      h(SelectBox, { selection, id: item[id], name: nameOf(kind, item), tabIndex }),
    );
  };
}

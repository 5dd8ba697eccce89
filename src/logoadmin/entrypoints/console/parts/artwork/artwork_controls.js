/** What one does to a logo or a theme in a list: select it, and switch it on or off. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { toggleActive } from "../lists/bulk_actions.js";
import { work } from "../lists/bulk_work.js";

/** @param {{selection: import("../lists/selection.js").Selection, id: number, name: string, tabIndex?: number}} props */
export function SelectBox({ selection, id, name, tabIndex = 0 }) {
  return h(
    "label",
    { class: "select-box" },
    h("input", {
      type: "checkbox",
      class: "select",
      checked: selection.ids.value.has(id),
      tabIndex,
      "aria-label": t("bulk.select", { name }),
      onClick: (/** @type {MouseEvent} */ event) => selection.toggle(id, event.shiftKey),
    }),
  );
}

/** @param {{kind: "logo" | "theme", artwork: any, tabIndex?: number}} props */
export function ActiveSwitch({ kind, artwork, tabIndex = 0 }) {
  const { write } = KINDS[kind];
  const why = may(write) ? "" : t("needsScope", { scope: write });
  return h("input", {
    type: "checkbox",
    role: "switch",
    class: "switch small",
    checked: artwork.active,
    tabIndex,
    "aria-disabled": Boolean(why || work.value),
    "aria-label": t("active.of", { name: nameOf(kind, artwork) }),
    "aria-description": why || undefined,
    title: why || t(artwork.active ? "active.on" : "active.off"),
    onClick: (/** @type {MouseEvent} */ event) => {
      // It stands where the record does: it moves when the service has said so.
      event.preventDefault();
      if (!why) void toggleActive(kind, artwork);
    },
  });
}

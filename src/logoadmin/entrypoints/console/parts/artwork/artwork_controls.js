/** Controls of a logo or a theme in a list: select it, and switch it on or off. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { STATES, statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { liftBlock, toggleActive } from "../lists/bulk_actions.js";
import { work } from "../lists/bulk_work.js";
import { IconButton } from "../primitives/basics.js";

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
  const { id, write } = KINDS[kind];
  const why = may(write) ? "" : t("needsScope", { scope: write });
  const { blocked } = statesOf(kind, artwork[id]);
  if (blocked && !why) {
    const name = nameOf(kind, artwork);
    // One click on a switch must not bring it back to readers.
    return h(IconButton, { icon: "Ban", class: "lift", label: t("blocked.lift.of", { name }), tabIndex, onClick: () => void liftBlock(kind, artwork, blocked.reason) });
  }
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

/** That readers do not get it, or that somebody should look at it. @param {{kind: "logo" | "theme", id: number}} props */
export function StateBadges({ kind, id }) {
  const known = statesOf(kind, id);
  const shown = STATES.filter((state) => known[state]);
  const why = { blocked: known.blocked?.reason, left_out: known.left_out?.host, changed: known.changed?.url, risky: undefined };
  return shown.length > 0 && h("span", { class: "badges" }, shown.map((state) => h("span", { key: state, class: `badge badge-${state}`, title: why[state] }, t(`state.${state}`))));
}

/** What a logo or a theme has in a list besides its values: the box that selects it, and its states. */
import { h } from "../../vendor/preact.js";
import { STATES, statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";

/** @param {{selection: import("../lists/selection.js").Selection, id: number, name: string, tabIndex?: number}} props */
export function SelectBox({ selection, id, name, tabIndex = 0 }) {
  return h("label", { class: "select-box" },
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

/** The states that are not the usual one, each a dot and a word. @param {{kind: "logo" | "theme", artwork: any}} props */
export function States({ kind, artwork }) {
  const known = statesOf(kind, artwork[KINDS[kind].id]);
  // A blocked record is off as well.
  const isOff = !artwork.active && !known.blocked;
  const shown = STATES.filter((state) => known[state]);
  const why = { blocked: known.blocked?.reason, left_out: known.left_out?.reason, risky: undefined };
  if (!isOff && shown.length === 0) return null;
  return h("span", { class: "state-words" },
    isOff && h("span", { class: "state", title: t("active.off") }, t("state.off")),
    shown.map((state) => h("span", { key: state, class: `state state-${state}`, title: why[state] }, t(`state.${state}`))),
  );
}

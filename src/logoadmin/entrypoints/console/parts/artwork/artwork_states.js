/** The states of a logo or a theme, and the way to its page for visitors. */
import { h } from "../../vendor/preact.js";
import { PAGE } from "../../look.js";
import { STATES, statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";

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

/** @param {ArtworkKind} kind @param {any} artwork @returns {boolean} whether it is published, and so has a page for visitors */
export function isOnPage(kind, artwork) {
  const { blocked, left_out: leftOut } = statesOf(kind, artwork[KINDS[kind].id]);
  return artwork.active && !blocked && !leftOut;
}

/** The way to what visitors see of a record. @param {{to: string, key?: any}} props Its path, below the page for visitors. */
export const OnPage = ({ to }) => PAGE && h("a", { href: new URL(`${to}/`, PAGE).href, target: "_blank", rel: "noreferrer" }, t("page.on"));

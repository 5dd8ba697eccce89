/** That sites do not get an active logo or theme: why, and what to do about it. */
import { h } from "../../vendor/preact.js";
import { statesOf } from "../../reader_states.js";
import { t } from "../../texts.js";
import { Band } from "../primitives/band.js";
import { aboutState } from "./about_state.js";

/** @param {{kind: "logo" | "theme", id: number}} props */
export function RecordState({ kind, id }) {
  const known = statesOf(kind, id);
  return known.left_out ? h(Band, { title: aboutState("left_out", known) }, h("p", null, t(`left_out.do.${known.left_out.code}`))) : null;
}

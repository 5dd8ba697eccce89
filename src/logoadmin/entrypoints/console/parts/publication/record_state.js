/** That sites do not get an active logo or theme, or not as its imports are by now: why, and where that is decided. */
import { h } from "../../vendor/preact.js";
import { statesOf } from "../../reader_states.js";
import { aboutState } from "./about_state.js";

const SHOWN = /** @type {const} */ (["left_out", "changed"]);

/** @param {{kind: "logo" | "theme", id: number}} props */
export function RecordState({ kind, id }) {
  const known = statesOf(kind, id);
  const shown = SHOWN.filter((state) => known[state]);
  if (shown.length === 0) return null;
  return h(
    "section",
    { class: "stack remark-card", role: "status" },
    shown.map((state) => h("p", { key: state }, aboutState(state, known))),
  );
}

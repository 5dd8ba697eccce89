/** The strip over a list: how many records there are or are selected, and what to do with them. */
import { h, useMemo } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { lazy } from "../primitives/lazy.js";
import { work } from "./bulk_work.js";

const BulkActs = lazy(withTexts(() => import("./bulk_acts.js").then((module) => module.BulkActs)));

/**
 * A strip over the list, which stays in view: how many there are, or what to do with those that are selected.
 *
 * @param {object} props
 * @param {"logo" | "theme" | "author" | "proposal"} props.kind
 * @param {any[] | undefined} props.artworks
 * @param {import("./selection.js").Selection} props.selection
 * @param {boolean} [props.hasMore] Whether there are more than these.
 * @param {(props: any) => any} [props.acts] What to do with them.
 */
export function ManyBar({ kind, artworks, selection, hasMore = false, acts = BulkActs }) {
  const ids = selection.ids.value;
  const id = kind === "proposal" ? "proposal_id" : KINDS[kind].id;
  const chosen = useMemo(() => artworks?.filter((each) => ids.has(each[id])) ?? [], [artworks, ids]);
  const busy = work.value && work.value.all > 1 ? work.value : undefined;
  return h("section", { class: chosen.length > 0 || busy ? "strip chosen" : "strip", "aria-label": t("bulk") },
    h("span", { class: "found", role: "status" },
      artworks && (chosen.length > 0 ? t("bulk.selected", { n: chosen.length }) : t(hasMore ? "found.more" : "found", { n: artworks.length })),
    ),
    !busy && artworks && chosen.length < artworks.length && h(Button, { tone: "quiet", onClick: () => selection.set(selection.shown()) }, t("bulk.all")),
    (busy || chosen.length > 0) && h(acts, { kind, chosen, artworks: artworks ?? [], selection, busy }),
  );
}

/** The way from a record to the next and the previous one, in the order of the list; by id for records that it did not show. */
import { h, useMemo } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { KINDS } from "../../records.js";
import { navigate } from "../../router.js";
import { t } from "../../texts.js";
import { trailOf } from "../../trail.js";
import { IconButton } from "../primitives/basics.js";
import { useRead } from "../primitives/use_read.js";

/** @typedef {import("../../records.js").KindName} KindName */
/** @typedef {{previous: number | undefined, next: number | undefined, at?: number, all?: number}} Around */

/** @param {{kind: KindName, id: number, list: string}} props */
export function Neighbours({ kind, id, list }) {
  // Known at once, so that a second key is not too early.
  const trail = useMemo(() => trailOf(kind, id), [kind, id]);
  const read = useRead(async (signal) => (trail ? undefined : around(kind, id, signal)), [kind, id]);
  const data = trail ? { previous: trail.ids[trail.at - 1], next: trail.ids[trail.at + 1], at: trail.at, all: trail.ids.length } : read.data;
  const button = (/** @type {"previous" | "next"} */ which) => {
    const to = data?.[which];
    const label = t(to === undefined && data ? `neighbour.${which}.none` : `neighbour.${which}`);
    return h(IconButton, {
      icon: which === "next" ? "ChevronRight" : "ChevronLeft",
      label,
      "aria-disabled": to === undefined,
      "aria-keyshortcuts": which === "next" ? "J" : "K",
      onClick: () => void (to !== undefined && navigate(`${list}/${to}`)),
    });
  };
  return h("div", { class: "cluster neighbours" },
    data?.at !== undefined && h("span", { class: "hint" }, t("neighbour.place", { at: data.at + 1, all: data.all ?? 0 })),
    button("previous"),
    button("next"),
  );
}

/** @param {KindName} kind @param {number} id @param {AbortSignal} signal @returns {Promise<Around>} */
async function around(kind, id, signal) {
  const [previous, next] = await Promise.all([beside(kind, id, "desc", signal), beside(kind, id, "asc", signal)]);
  return { previous, next };
}

/** @param {KindName} kind @param {number} id @param {"asc" | "desc"} order @param {AbortSignal} signal @returns {Promise<number | undefined>} */
async function beside(kind, id, order, signal) {
  const { list, id: name, anonymous } = KINDS[kind];
  const query = { after: id, order, limit: 1 };
  const { data } = await /** @type {Promise<import("../../client.js").Answer<any>>} */ (call("get", /** @type {any} */ (list), /** @type {any} */ ({ query, anonymous, signal })));
  return data[0]?.[name];
}

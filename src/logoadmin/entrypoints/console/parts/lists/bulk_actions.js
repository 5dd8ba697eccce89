/** Actions for one record or many; what carries them out is loaded when it is first wanted. */
import { say } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { t, withTexts } from "../../texts.js";

/** @typedef {import("./bulk_work.js").Action} Action */

/** @type {Record<"on" | "lift" | "off" | "remove", Action>} */
export const ACTIONS = {
  on: { act: "on", change: () => ({ set: { active: true } }) },
  lift: { act: "on", change: () => ({ set: { active: true, unblock: true } }) },
  off: { act: "off", change: () => ({ set: { active: false } }) },
  remove: { act: "remove", change: () => ({ remove: true }) },
};

const loadRun = withTexts(() => import("./bulk_run.js"));

/**
 * @param {"logo" | "theme"} kind @param {Action} action @param {any[]} records
 * @param {import("./selection.js").Selection} [selection]
 */
export async function doMany(kind, action, records, selection) {
  const run = await loadRun().catch(() => undefined);
  if (run) await run.doMany(kind, action, records, selection);
  else say(t("failure.away"), { tone: "failed" });
}

const loadLift = withTexts(() => import("../publication/lift.js"), "publication");

/** @param {"logo" | "theme"} kind @param {any} artwork @param {string} reason Of its block. */
export async function liftBlock(kind, artwork, reason) {
  const lift = await loadLift().catch(() => undefined);
  if (!lift) say(t("failure.away"), { tone: "failed" });
  else if (await lift.askToLift(nameOf(kind, artwork), reason)) void doMany(kind, ACTIONS.lift, [artwork]);
}

/** @param {"logo" | "theme"} kind @param {{active: boolean}} artwork */
export const toggleActive = (kind, artwork) => doMany(kind, artwork.active ? ACTIONS.off : ACTIONS.on, [artwork]);

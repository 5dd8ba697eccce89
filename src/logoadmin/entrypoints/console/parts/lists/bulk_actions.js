/** Actions for one record or many; what carries them out is loaded when it is first wanted. */
import { say } from "../../notices.js";
import { t, withTexts } from "../../texts.js";

/** @typedef {import("./bulk_work.js").Action} Action */

/** @type {Record<"on" | "off" | "remove", Action>} */
export const ACTIONS = {
  on: { act: "on", change: () => ({ set: { active: true } }) },
  off: { act: "off", change: () => ({ set: { active: false } }) },
  remove: { act: "remove", change: () => ({ remove: true }) },
};

const loadRun = withTexts(() => import("./bulk_run.js"));

/** @param {"logo" | "theme" | "author"} kind @param {Action} action @param {any[]} records @param {import("./selection.js").Selection} [selection] */
export async function doMany(kind, action, records, selection) {
  const run = await loadRun().catch(() => undefined);
  if (run) await run.doMany(kind, action, records, selection);
  else say(t("failure.away"), { tone: "failed" });
}

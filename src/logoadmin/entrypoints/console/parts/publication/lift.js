/** The question before a block is lifted: the record goes back to readers. */
import { t } from "../../texts.js";
import { ask } from "../primitives/dialog.js";

/** @param {string} name @param {string} reason Of the block. @returns {Promise<boolean>} */
export const askToLift = (name, reason) => ask({ title: t("blocked.lift.ask", { name }), text: t("blocked.lift.text", { reason }), yes: t("blocked.lift.yes"), no: t("cancel") });

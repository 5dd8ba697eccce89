/** Sizes of files, in words. */
import { t } from "../../texts.js";

/** @param {number} bytes @returns {string} in kilobytes or megabytes */
export const size = (bytes) => (bytes < 1_000_000 ? t("size.kb", { n: Math.ceil(bytes / 1000) }) : t("size.mb", { n: Math.round(bytes / 100_000) / 10 }));

/**
 * The bulk action in progress; other views stay usable meanwhile.
 *
 * @typedef {"on" | "off" | "remove" | "target" | "link" | "unlink" | "licence" | "tag" | "untag" | "keep" | "inline"} Act
 * @typedef {object} Action
 * @property {Act} act
 * @property {(record: any) => import("./bulk_write.js").Change} change
 * @property {Record<string, string>} [values] Of its texts.
 * @property {string} [note] Why, for the history.
 * @typedef {{act: Act, all: number, left: number, stop: AbortController}} Work
 */
import { signal } from "../../vendor/preact.js";

/** The most changes of one request (contract J7). */
export const MOST = 1000;

/** @type {import("../../vendor/preact.js").Signal<Work | undefined>} */
export const work = signal(undefined);

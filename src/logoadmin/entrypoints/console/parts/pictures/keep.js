/** Sends pictures to the gallery, which keeps them (contract P1, P3). */
import { call, Failure } from "../../client.js";

/** The largest file that the service accepts. */
const MOST = 8 * 1024 * 1024;

/** @typedef {{url: string, width: number, height: number, size: number}} Kept */

/** @param {File} file @param {(sent: number) => void} progress Gets the share that was sent, from 0 to 1. @param {AbortSignal} signal @returns {Promise<Kept>} @throws {Failure} */
export async function keepFile(file, progress, signal) {
  if (file.size > MOST) throw new Failure("tooLarge");
  const sent = (/** @type {number} */ loaded, /** @type {number} */ whole) => progress(loaded / whole);
  return (await call("post", "/api/pictures", { file, type: file.type || "application/octet-stream", progress: sent, signal })).data;
}

/** @param {string} url @param {AbortSignal} signal @returns {Promise<Kept>} @throws {Failure} */
export const keepCopy = async (url, signal) => (await call("post", "/api/pictures", { query: { from: url }, signal })).data;

/** Reads the status of the publication. */
import { call, Failure, writes } from "../../client.js";
import { me } from "../../session.js";

/** @typedef {import("logoadmin/api").components["schemas"]["PublicationStatus"]} Status */

/** @type {Promise<Status | undefined> | undefined} */
let reading;

/** Read it now; concurrent calls share one request. @returns {Promise<Status | undefined>} nothing after a failure, or for another user */
export function readStatus() {
  reading ??= readNow().finally(() => (reading = undefined));
  return reading;
}

async function readNow() {
  const reader = me.value?.user_id;
  try {
    for (;;) {
      const before = writes;
      const { data } = await call("get", "/api/publication");
      if (before === writes) return me.value?.user_id === reader ? data : undefined;
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}

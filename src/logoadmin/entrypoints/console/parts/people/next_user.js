/** The ids of users without a number at the site. */
import { call, Failure } from "../../client.js";

/** From here on there are ids for people without a number at the site (contract H3). */
const OWN_IDS = 2_000_000_000;
const LAST_ID = 2_147_483_647;

/** @param {AbortSignal} [signal] @returns {Promise<number | undefined>} an id that no user has, where that can be known */
export async function nextUserId(signal) {
  try {
    const { data } = await call("get", "/api/users", { query: { order: "desc", limit: 1 }, ...(signal && { signal }) });
    const next = Math.max(OWN_IDS, ...data.map((user) => user.user_id)) + 1;
    return next > LAST_ID ? undefined : next;
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return undefined;
  }
}

/** The author that a user is (contract R2). */
import { call } from "../../client.js";
import { me } from "../../session.js";
import { useRead } from "../primitives/use_read.js";

/** @typedef {import("logoadmin/api").components["schemas"]["Author"]} Author */

/** @returns {{author: Author | null | undefined, failure: import("../../client.js").Failure | undefined, again: () => void}} null where there is none; undefined until that is known */
export function useOwnAuthor() {
  const userId = me.value?.user_id;
  const { data, failure, again } = useRead(
    async (signal) => (userId === undefined ? [] : (await call("get", "/api/authors", { query: { user_id: userId, limit: 1 }, anonymous: true, signal })).data),
    [userId],
  );
  return { author: data && (data[0] ?? null), failure, again: () => void again() };
}

/** What a view reads for itself, beside the lists that all views share. */
import { useEffect, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";

/**
 * Read something now, and again when the service is back; what was read before stays until then.
 *
 * @template T
 * @param {() => Promise<T>} read
 * @param {readonly unknown[]} [anew] What it depends on.
 * @returns {{data: T | undefined, failure: Failure | undefined, again: () => Promise<void>}}
 */
export function useRead(read, anew = []) {
  const [data, setData] = useState(/** @type {T | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const again = async () => {
    try {
      const found = await read();
      setData(() => found);
      setFailure(undefined);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
  };
  useEffect(() => void again(), [returned.value, ...anew]);
  return { data, failure, again };
}

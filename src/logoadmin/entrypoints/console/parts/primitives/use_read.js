/** Reads data for a single view, besides the lists that all views share. */
import { useEffect, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";

/**
 * Read data now, and again when the service is back; the old data stay until then.
 *
 * @template T
 * @param {() => Promise<T>} read
 * @param {readonly unknown[]} [inputs] Read again when one of these changes.
 * @returns {{data: T | undefined, failure: Failure | undefined, again: () => Promise<void>}}
 */
export function useRead(read, inputs = []) {
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
  useEffect(() => void again(), [returned.value, ...inputs]);
  return { data, failure, again };
}

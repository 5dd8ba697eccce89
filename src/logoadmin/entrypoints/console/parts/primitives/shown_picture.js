/** The address from which a small picture is shown, and the next one where that fails. */
import { useEffect, useState } from "../../vendor/preact.js";
import { opened } from "../../client.js";
import { pictureUrl } from "./basics.js";
import { ownPicture } from "./own_picture.js";

/**
 * Of a picture of the gallery, the thumbnail is shown. Where it is refused to strangers, because it was taken down, the
 * console fetches it with its token (contract P5): always from its own service, whatever host the URL names. Another
 * service may have a picture under such a path without a thumbnail.
 *
 * @param {string} url @returns {{source: string | undefined, isFailed: boolean, onError: () => void}} no source while it is fetched
 */
export function useShown(url) {
  // Of which picture it is known: the frame may be used for another one.
  const [known, setKnown] = useState({ url: "", failures: 0, fetched: "" });
  const whole = pictureUrl(url);
  const own = whole === undefined ? undefined : ownPicture(whole);
  const { failures, fetched } = known.url === url ? known : { failures: 0, fetched: "" };
  const failed = () => setKnown({ url, failures: failures + 1, fetched: "" });
  const isRefused = own !== undefined && failures === 1;
  useEffect(() => {
    if (!isRefused) return undefined;
    const stop = new AbortController();
    let address = "";
    const show = async () => {
      const content = await takenDown(own.picture, stop.signal);
      if (stop.signal.aborted) return;
      address = URL.createObjectURL(content);
      setKnown({ url, failures, fetched: address });
    };
    show().catch(() => stop.signal.aborted || failed());
    return () => {
      stop.abort();
      URL.revokeObjectURL(address);
    };
  }, [url, isRefused]);
  const tries = own ? [own.thumbnail, fetched || undefined, whole] : [whole];
  return { source: tries[failures], isFailed: failures >= tries.length, onError: failed };
}

/** @param {string} picture @param {AbortSignal} signal @returns {Promise<Blob>} the thumbnail, for users who may see it (contract P5) */
export const takenDown = async (picture, signal) => (await opened(`/pictures/${picture}-320.webp`, {}, signal)).blob();

/** A picture of a record, in a frame that never changes its size; a logo on a chequered ground, for what is transparent. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { opened } from "../../client.js";
import { t } from "../../texts.js";
import { Icon, pictureUrl } from "./basics.js";

/** @param {{url: string, kind?: string | undefined, shown?: boolean, alt?: string}} props `shown` says when it may be asked for; a theme fills its frame. */
export function Picture({ url, kind = "", shown = true, alt = "" }) {
  const { source, isFailed, onError } = useShown(url);
  const [loaded, setLoaded] = useState("");
  const [ground, setGround] = useState("");
  const isMissing = pictureUrl(url) === undefined;
  const state = isMissing ? "missing" : isFailed ? "failed" : source !== undefined && loaded === source ? "there" : "";
  const appear = (/** @type {string} */ shownNow, /** @type {Event} */ { currentTarget }) => {
    setLoaded(shownNow);
    setGround("");
    if (kind === "theme") return;
    const image = /** @type {HTMLImageElement} */ (currentTarget);
    // No list waits for it.
    import("./ground.js").then(({ groundOf }) => groundOf(image)).then(setGround, () => undefined);
  };
  return h("div", { class: `picture ${state} ${kind} ${state === "there" && ground ? `on-${ground}` : ""}` },
    shown && source && h("img", { key: source, src: source, alt, decoding: "async", referrerPolicy: "no-referrer", onLoad: (/** @type {Event} */ event) => appear(source, event), onError }),
    (isMissing || isFailed) && h(Broken, { words: t(isMissing ? "picture.missing" : "picture.failed") }),
  );
}

/** The same in a frame of any size. @param {{words: string}} props */
const Broken = ({ words }) => h("span", { class: "broken", title: words }, h(Icon, { name: "ImageOff" }), h("span", { class: "hidden" }, words));

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

/** As the service judges it, see `picture_of` there. */
const NAMED = /^(?<folder>(?:.*\/)?pictures\/)(?<picture>[0-9a-f]{64})(?:-320)?\.webp$/s;

/** Pictures that the gallery keeps: judged by the path alone, so that a change of `public_url` loses none (contract P2). @param {string} url @returns {{picture: string, thumbnail: string} | undefined} its hash, and the URL of the smaller one */
export function ownPicture(url) {
  if (!URL.canParse(url)) return undefined;
  const found = new URL(url);
  const { folder, picture = "" } = NAMED.exec(found.pathname)?.groups ?? {};
  if (folder === undefined) return undefined;
  found.pathname = `${folder}${picture}-320.webp`;
  return { picture, thumbnail: found.href };
}

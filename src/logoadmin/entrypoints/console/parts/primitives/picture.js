/** A picture of a record, in a frame that never changes its size; a logo on a chequered ground, for what is transparent. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { pictureUrl } from "./basics.js";
import { Icon } from "./icon.js";
import { useShown } from "./shown_picture.js";

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

/** A picture of a record, in a frame that never changes its size; on a chequered ground, for what is transparent. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { pictureUrl } from "./basics.js";
import { Icon } from "./icon.js";
import { useShown } from "./shown_picture.js";

/** @param {{url: string, shown?: boolean, alt?: string}} props `shown` says when it may be asked for. */
export function Picture({ url, shown = true, alt = "" }) {
  const { source, isFailed, onError } = useShown(url);
  const [loaded, setLoaded] = useState("");
  const isMissing = pictureUrl(url) === undefined;
  const state = isMissing ? "missing" : isFailed ? "failed" : source !== undefined && loaded === source ? "there" : "";
  return h("div", { class: `picture ${state}` },
    shown && source && h("img", { key: source, src: source, alt, decoding: "async", referrerPolicy: "no-referrer", onLoad: () => setLoaded(source), onError }),
    (isMissing || isFailed) && h(Broken, { words: t(isMissing ? "picture.missing" : "picture.failed") }),
  );
}

/** The same in a frame of any size. @param {{words: string}} props */
const Broken = ({ words }) => h("span", { class: "broken", title: words }, h(Icon, { name: "ImageOff" }), h("span", { class: "hidden" }, words));

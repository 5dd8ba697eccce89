/** A picture of a record, in a frame that never changes its size; on a chequered ground, for what is transparent. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { pictureUrl } from "./basics.js";

/** @param {{url: string, shown?: boolean, alt?: string}} props `shown` says when it may be asked for. */
export function Picture({ url, shown = true, alt = "" }) {
  // Of which picture it is known: the frame may be used for another one.
  const [known, setKnown] = useState({ url: "", state: "" });
  const source = pictureUrl(url);
  const state = source === undefined ? "missing" : known.url === url ? known.state : "";
  const isShown = shown && source && state !== "failed";
  const seen = (/** @type {"there" | "failed"} */ found) => () => setKnown({ url, state: found });
  return h(
    "div",
    { class: `picture ${state}` },
    isShown && h("img", { key: url, src: source, alt, decoding: "async", referrerPolicy: "no-referrer", onLoad: seen("there"), onError: seen("failed") }),
    source && state !== "failed" ? null : h("span", null, t(source ? "picture.failed" : "picture.missing")),
  );
}

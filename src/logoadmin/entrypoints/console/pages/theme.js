/** One theme, or a new one. */
import { h } from "../vendor/preact.js";
import { ArtworkPage } from "./artwork.js";

/** @param {{params: Record<string, string>}} props */
export default function Theme({ params }) {
  return h(ArtworkPage, { kind: "theme", recordId: params["theme_id"] });
}

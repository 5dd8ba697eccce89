/** One logo, or a new one. */
import { h } from "../vendor/preact.js";
import { ArtworkPage } from "./artwork.js";

/** @param {{params: Record<string, string>}} props */
export default function Logo({ params }) {
  return h(ArtworkPage, { kind: "logo", recordId: params["logo_id"] });
}

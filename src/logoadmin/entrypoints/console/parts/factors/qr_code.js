/** A QR code of the service, which sends it as SVG. */
import { h } from "../../vendor/preact.js";

/** Trusted Types forbid markup from strings, and the policy of the page pictures from `data:` and `blob:`, so its paths are drawn one by one. @param {{svg: string, label: string}} props */
export function QrCode({ svg, label }) {
  const paths = [...svg.matchAll(/<path ([^>]*)>/g)].map(([, text = ""]) => attributes(text));
  return h("svg", { class: "qr-code", role: "img", "aria-label": label, viewBox: attributes(svg)["viewBox"] },
    paths.map(({ fill, stroke, d }, at) => h("path", { key: at, fill, stroke, d })),
  );
}

/** @param {string} text @returns {Record<string, string>} */
const attributes = (text) => Object.fromEntries([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name, value]) => [name, value]));

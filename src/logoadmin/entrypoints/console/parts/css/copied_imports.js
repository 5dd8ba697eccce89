/** Copies the stylesheets that the CSS of the form imports into it, or fetches earlier copies again (contract L5). */
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { useRun } from "../primitives/hooks.js";
import { failureWords } from "../pictures/fetching.js";

/**
 * @param {object} props
 * @param {"logo" | "theme"} props.kind
 * @param {string} props.css The text in the form.
 * @param {boolean} props.isImporting Whether it has imports; otherwise it has copies.
 * @param {(css: string) => void} props.set Changes the text in the form.
 */
export function CopiedImports({ kind, css, isImporting, set }) {
  const { busy, run } = useRun();
  const [found, setFound] = useState(/** @type {Schemas["InlinedCss"] | undefined} */ (undefined));
  const copy = () => call("post", "/api/css/inline", { body: { kind, custom_css: css } });
  const copied = (/** @type {Answer<Schemas["InlinedCss"]>} */ { data }) => {
    setFound(data);
    if (data.custom_css !== css) set(data.custom_css);
  };
  // What was found belongs to the text that came of it.
  const shown = found?.custom_css === css ? found : undefined;
  return h("div", { class: "stack" },
    h("p", { class: "hint" }, t(isImporting ? "inline.text" : "inline.copies")),
    h("div", { class: "cluster" }, h(Button, { icon: isImporting ? "CopyPlus" : "RefreshCw", busy: busy !== "", onClick: () => void run(copy, copied) }, t(isImporting ? "inline.copy" : "inline.again"))),
    h("div", { role: "status", class: "stack tight" }, shown && h(Outcome, { outcome: shown })),
  );
}

/** @param {{outcome: Schemas["InlinedCss"]}} props */
function Outcome({ outcome: { sheets, failed } }) {
  return [
    sheets.length > 0 && h("p", { key: "words" }, t("inline.copied", { n: sheets.length })),
    sheets.length > 0 && h("ul", { key: "sheets", class: "stack tight" }, sheets.map(({ url }) => h("li", { key: url }, h("bdi", { class: "host-name" }, url)))),
    failed.map(({ url, reason }) => h("p", { key: `failed ${url}`, class: "problem" }, h("bdi", { class: "host-name" }, url), " ", failureWords(reason))),
  ];
}

/** How the site looks with a logo or theme as it was, and as it is. */
import { h } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { t } from "../../texts.js";
import { Preview } from "../css/css_preview.js";
import { listedIn } from "../css/judged.js";
import { useRead } from "../primitives/use_read.js";

/** @typedef {import("./changes.js").Change["after"]} State */

/** @param {{kind: "logo" | "theme", then: NonNullable<State>, now: NonNullable<State>}} props */
export function VersionPreviews({ kind, then, now }) {
  return h("div", { class: "pair" }, h(Version, { label: t("version.then"), kind, state: then }), h(Version, { label: t("version.now"), kind, state: now }));
}

/** @param {{label: string, kind: "logo" | "theme", state: Record<string, any>}} props */
function Version({ label, kind, state: { custom_css: css, target, preview_url: picture } }) {
  const { data } = useRead(async (signal) => (css ? (await call("post", "/api/css/verdict", { body: { kind, custom_css: css, target }, signal })).data : undefined), [kind, css, target]);
  return h("figure", null, h("figcaption", { class: "label" }, label), h(Preview, { label: `${t("preview")}: ${label}`, kind, css, target, picture, listed: data && listedIn(data) }));
}

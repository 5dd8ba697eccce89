/** How visitors become members, and how they get back to where they came from (contract Q2, R5). */
import { h } from "../../vendor/preact.js";
import { PAGE } from "../../look.js";
import { pageConfig } from "../../session.js";
import { t } from "../../texts.js";
import { rich } from "../primitives/basics.js";

const { home, submit } = pageConfig.look;
/** The site that the gallery belongs to. */
const site = home || submit;
/** Else its page for visitors, if there is one. */
const back = site || PAGE?.href;

/** @param {{tone: string}} props */
export function WayBack({ tone }) {
  if (!back) return null;
  return h("a", { class: `button ${tone}`, href: back, rel: "noreferrer" }, site ? t("signIn.site", { site: new URL(site).host }) : t("signIn.gallery"));
}

/** @param {{ways: import("./ways.js").Ways}} props */
export function Joining({ ways: { issuer } }) {
  return [
    submit && h("p", { key: "site", class: "hint" }, rich("signIn.join.site", { site: h("a", { href: submit, rel: "noreferrer" }, new URL(submit).host) })),
    issuer && h("p", { key: "issuer", class: "hint" }, t("signIn.join.issuer", { name: issuer.name })),
    !submit && !issuer && h("p", { key: "ask", class: "hint" }, t("signIn.join.ask")),
  ];
}

/** What accepting the offered imports would change for sites: hosts and risks that are new first, and a look at both copies. */
import { h, useEffect } from "../../vendor/preact.js";
import { enumeration, t } from "../../texts.js";
import { previewed } from "../css/css_preview.js";

/** @typedef {import("logoadmin/api").components["schemas"]["PinnedCopies"]} PinnedCopies */
/** @typedef {import("logoadmin/api").components["schemas"]["Verdict"]} Verdict */

/** @param {Verdict} verdict @returns {Set<Verdict["risks"][number]["risk"]>} */
const risksOf = (verdict) => new Set(verdict.risks.map(({ risk }) => risk));

/** @param {PinnedCopies} copies @returns {string[]} sentences about the news in the offered copies, the worst first */
export function newsOf({ pinned, offered }) {
  if (!offered) return [];
  const known = risksOf(pinned.verdict);
  const hosts = offered.verdict.hosts.filter((host) => !pinned.verdict.hosts.includes(host));
  const risks = [...risksOf(offered.verdict)].filter((risk) => !known.has(risk));
  return [...(hosts.length > 0 ? [t("imports.new.hosts", { hosts: enumeration(hosts) })] : []), ...risks.map((risk) => t(`verdict.${risk}`))];
}

/** @param {{kind: "logo" | "theme", recordId: number, copies: PinnedCopies}} props */
export function Copies({ kind, recordId, copies }) {
  // It belongs to these copies.
  useEffect(() => () => void (previewed.value = undefined), [copies]);
  if (!copies.offered) return null;
  const news = newsOf(copies);
  const kept = [...risksOf(copies.offered.verdict)].filter((risk) => risksOf(copies.pinned.verdict).has(risk));
  const shown = previewed.value?.what;
  /** @param {"pinned" | "offered"} what */
  const look = (what) => {
    const { css, verdict } = copies[what] ?? {};
    previewed.value = shown === what || typeof css !== "string" ? undefined : { kind, id: recordId, css, hosts: verdict?.hosts ?? [], what };
  };
  return h(
    "div",
    { class: "stack" },
    news.length > 0
      ? [h("p", { key: "new", class: "label" }, t("imports.news")), h("ul", { key: "list", class: "stack tight problem", "aria-label": t("imports.news") }, news.map((each) => h("li", { key: each }, each)))]
      : h("p", { class: "hint" }, t("imports.new.none")),
    kept.length > 0 && h("p", { class: "hint" }, `${t("imports.kept")} ${kept.map((risk) => t(`verdict.${risk}`)).join(" ")}`),
    h(
      "div",
      { class: "segmented", role: "group", "aria-label": t("preview") },
      /** @type {const} */ (["pinned", "offered"]).map((what) =>
        h("button", { key: what, type: "button", "aria-pressed": shown === what, disabled: typeof copies[what]?.css !== "string", onClick: () => look(what) }, t(`imports.preview.${what}`)),
      ),
    ),
    shown && h("p", { class: "hint", role: "status" }, t("imports.preview.shown")),
  );
}

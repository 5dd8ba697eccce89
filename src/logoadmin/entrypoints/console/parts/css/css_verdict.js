/** What the service found in the CSS of the form: which hosts it contacts, what it imports, and what it may do to a page. */
import { h, useState } from "../../vendor/preact.js";
import { statesOf } from "../../reader_states.js";
import { OWN_HOSTS } from "../../shared_settings.js";
import { enumeration, t, withTexts } from "../../texts.js";
import { Button, Icon, lazy, rich, Unread } from "../primitives/basics.js";
import { goTo } from "./css_editor.js";
import { judgeAgain, judgedOf } from "./css_preview.js";

/** @typedef {Verdict["risks"][number]} Risk */

/** The number of places named at first for one risk; there are at most twenty. */
const SHOWN = 5;
/** The number of hosts named. */
const NAMED = 20;
const CopiedImports = lazy(withTexts(() => import("./copied_imports.js").then((module) => module.CopiedImports), "publication"));
/** How the comment before a copy begins. */
const COPY = "/*! from http";

/**
 * @param {object} props
 * @param {ArtworkKind} props.kind
 * @param {number | undefined} props.recordId
 * @param {string} props.css The text in the form.
 * @param {(css: string) => void} props.set Changes it.
 */
export function CssVerdict({ kind, recordId, css, set }) {
  const { verdict, failure, isSaved = false, ...judged } = judgedOf(kind, recordId);
  // What the state says is not contradicted.
  const known = recordId === undefined ? {} : statesOf(kind, recordId);
  const isNews = isSaved && Boolean(known.left_out);
  const isImporting = Boolean(verdict?.imports.length);
  const isChanged = judged.css !== css;
  return h("section", { class: "stack loose verdict", "aria-label": t("verdict.title") },
    h("h2", { class: "label" }, t("verdict.title")),
    verdict ? h(Findings, { verdict, isChanged, isNews, isAway: failure !== undefined }) : failure ? h(Unread, { failure, again: judgeAgain }) : h("p", { class: "hint" }, t("loading")),
    kind === "theme" && (isImporting || css.includes(COPY)) && h(CopiedImports, { kind, css, isImporting, set }),
  );
}

/** @param {{verdict: Verdict, isChanged: boolean, isNews: boolean, isAway: boolean}} props `isNews`: whether something else about it needs attention. */
function Findings({ verdict, isChanged, isNews, isAway }) {
  const { imports, size, risks, reason } = verdict;
  const hosts = verdict.hosts.filter((host) => !OWN_HOSTS.includes(host));
  const named = [...hosts.slice(0, NAMED), ...(hosts.length > NAMED ? [t("andMore", { n: hosts.length - NAMED })] : [])];
  const places = Map.groupBy(risks, ({ risk }) => risk);
  return h("div", { class: "box divided" },
    h("p", { class: "row" },
      hosts.length > 0 ? rich("verdict.hosts", { hosts: h("bdi", null, enumeration(named)) }) : t("verdict.hosts.none"),
      " ",
      imports.length > 0 && [t("verdict.imports", { n: imports.length }), " "],
      h("span", { class: "hint" }, t("verdict.size", { n: size })),
    ),
    [...places].map(([risk, its]) => h(Places, { key: risk, risk, places: its, isChanged })),
    reason && h("p", { class: "row verdict-words" }, h(Icon, { name: "TriangleAlert" }), t("verdict.notJudged")),
    risks.length === 0 && !isNews && h("p", { class: "row verdict-words" }, h(Icon, { name: "Check" }), t("verdict.none")),
    isAway ? h("p", { class: "row hint", role: "status" }, t("verdict.away")) : isChanged && h("p", { class: "row hint" }, t("verdict.later")),
  );
}

/** One risk, and where it is. @param {{risk: Risk["risk"], places: Risk[], isChanged: boolean}} props */
function Places({ risk, places, isChanged }) {
  const [most, setMost] = useState(SHOWN);
  const words = t(`verdict.${risk}`);
  return h("div", { class: "spread row" },
    h("p", { class: "verdict-words" }, h(Icon, { name: "TriangleAlert" }), words),
    h("ul", { class: "cluster", "aria-label": words },
      places.slice(0, most).map(({ line, column }, at) => {
        const where = t("import.line", { n: line });
        // The places are those of the text that was judged.
        return h("li", { key: at }, isChanged ? h("span", { class: "hint" }, where) : h(Button, { tone: "quiet verdict-line", onClick: () => goTo(line, column) }, where));
      }),
      places.length > most && h("li", { key: "more" }, h(Button, { tone: "quiet verdict-line", onClick: () => setMost(places.length) }, t("andMore", { n: places.length - most }))),
    ),
  );
}

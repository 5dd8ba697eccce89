/** Submissions below each other, each with a picture, its subject and its state. */
import { h } from "../../vendor/preact.js";
import { isOwn } from "../../proposals.js";
import { enumeration, t } from "../../texts.js";
import { Link, Time, rich } from "../primitives/basics.js";
import { Icon } from "../primitives/icon.js";
import { Picture } from "../primitives/picture.js";
import { State, Submitter, blockOf, newsOf } from "./submission_words.js";

/** @typedef {import("../../proposals.js").ProposalSummary} ProposalSummary */

/** @param {{proposals: ProposalSummary[], label: string, isShort?: boolean, hasState?: boolean}} props `isShort`: all are of one person, who is known. */
export function SubmissionList({ proposals, label, isShort = false, hasState = true }) {
  return h("ul", { class: `box divided submissions${isShort ? " short" : ""}`, "aria-label": label },
    proposals.map((proposal) => h("li", { key: proposal.proposal_id }, h(Row, { proposal, isShort, hasState }))),
  );
}

/** @param {{proposal: ProposalSummary, isShort: boolean, hasState: boolean}} props */
function Row({ proposal, isShort, hasState }) {
  const { proposal_id: id, title, counts, pictures, created_at: at, reason, state } = proposal;
  const [url] = pictures;
  const blocked = blockOf(proposal);
  const news = state === "waiting" && !isShort ? newsOf(proposal) : [];
  const who = h(Submitter, { of: proposal });
  const time = h(Time, { seconds: at });
  return h(Link, { to: `submissions/${id}`, class: "submission-row" },
    !isShort && h("span", { class: "submission-picture" }, url ? h(Picture, { url }) : null),
    h("span", { class: "stack tight submission-about" },
      h("span", { class: "spread" }, h("span", { class: "submission-title", dir: "auto" }, title), hasState && h(State, { proposal })),
      h("span", { class: "hint" }, enumeration(Object.entries(counts).map(([kind, n]) => t(/** @type {any} */ (`submission.${kind}s`), { n })))),
      h("span", { class: "hint" }, isShort || isOwn(proposal) ? time : rich("submission.by", { who, time })),
      news.length > 0 && h("span", { class: "submission-news" }, h(Icon, { name: "TriangleAlert" }), h("span", null, news.join(" "))),
      blocked && h("span", { class: "submission-reason", dir: "auto" }, t("work.blocked", { reason: blocked })),
      reason && state === "declined" && h("span", { class: "submission-reason", dir: "auto" }, t("submission.because", { reason })),
    ),
  );
}

/** One change of a submission in the form of its record: changed by its submitter, or mended by a reviewer, who applies it then. */
import { h } from "../vendor/preact.js";
import { call } from "../client.js";
import { say, sayFailure } from "../notices.js";
import { isDecidable, isOwn, requeue } from "../proposals.js";
import { navigate } from "../router.js";
import { t } from "../texts.js";
import { Breadcrumbs, EmptyState, Pending, ViewHead } from "../parts/primitives/basics.js";
import { useRead } from "../parts/primitives/hooks.js";
import { apply } from "../parts/proposals/deciding.js";
import { asSent, ProposalForm, withRest } from "../parts/proposals/proposal_form.js";
import { changeWords } from "../parts/proposals/submission_list.js";

/** @typedef {import("../parts/proposals/proposal_form.js").ProposableKind} ProposableKind */

const KINDS = ["logo", "theme", "author"];

/** @param {{params: Record<string, string>}} props */
export default function ProposedChangePage({ params }) {
  const id = Number(params["proposal_id"]);
  const { data: seen, failure, again } = useRead((signal) => call("get", "/api/proposals/{proposal_id}", { path: { proposal_id: id }, signal }), [id]);
  if (!seen) return h("div", { class: "view" }, h(ViewHead, { title: t("submission.title") }), h(Pending, { failure, again }));
  const { data: proposal, etag } = seen;
  const place = Number(params["place"]);
  const change = proposal.changes[place];
  const isMine = isOwn(proposal);
  const isOpen = proposal.state === "waiting" || (isMine && proposal.state === "declined");
  if (!change || change.remove || change.block || !KINDS.includes(change.kind) || !isOpen) return h(EmptyState, { icon: "SearchX", whole: true, title: t("submission.closed") });
  const isReview = isDecidable(proposal) && proposal.state === "waiting";
  const isAlone = proposal.changes.length === 1;
  /** @type {import("../parts/proposals/proposal_form.js").Send} */
  const send = async (values, { version, form }) => {
    const all = withRest(change, form, values);
    const mended = change.create ? { kind: change.kind, create: all } : { kind: change.kind, id: change.id, version, set: all };
    const note = isReview ? {} : { note: String(form.values.value["note"] ?? "") };
    const changes = proposal.changes.map((each, at) => (at === place ? mended : asSent(each)));
    return call("patch", "/api/proposals/{proposal_id}", { path: { proposal_id: id }, body: /** @type {any} */ ({ changes, ...note }), ifMatch: etag });
  };
  const sent = async (/** @type {Answer} */ answer) => {
    // If that fails, the submission has the changes, and applies them again.
    if (isReview && isAlone && (await apply({ proposal: answer.data, etag: answer.etag }).catch((failure) => void sayFailure(failure)))) return;
    say(t(isReview ? "submission.mended.done" : "submit.done"));
    void requeue();
    await navigate(`submissions/${id}`, { replace: true });
  };
  const does = isReview ? (isAlone ? "review.mend.apply" : "save") : "submit.review";
  return h("div", { class: "view" },
    h(Breadcrumbs, { list: `submissions/${id}`, title: proposal.title, name: changeWords(change) }),
    h(ViewHead, { title: t(isReview ? "review.mend.title" : "submit.again.title") }),
    proposal.reason && proposal.state === "declined" && h("p", { class: "remark", dir: "auto" }, t("submission.because", { reason: proposal.reason })),
    proposal.note && isReview && h("blockquote", { class: "note", dir: "auto" }, proposal.note),
    h(ProposalForm, { kind: /** @type {ProposableKind} */ (change.kind), ...(change.id === null ? {} : { id: change.id }), change, note: proposal.note, isReviewed: isReview, does: t(/** @type {any} */ (does)), send, sent }),
  );
}

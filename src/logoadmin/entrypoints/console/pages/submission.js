/** One submission: what it would change, what its submitter proposed before, and the decision. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { call } from "../client.js";
import { say, sayFailure } from "../notices.js";
import { isOnPage, OnPage } from "../parts/artwork/artwork_states.js";
import { inTurn, isDecidable, isOwn, readQueue, requeue, reviews } from "../proposals.js";
import { readStates, statesOf } from "../reader_states.js";
import { KINDS, readList, readOne } from "../records.js";
import { navigate } from "../router.js";
import { may } from "../session.js";
import { t } from "../texts.js";
import { Breadcrumbs, Button, Link, Pending, rich, Time, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRead, useRun } from "../parts/primitives/hooks.js";
import { ask } from "../parts/primitives/dialog.js";
import { Ways } from "../parts/primitives/pages.js";
import { ChangeReview, Mended } from "../parts/proposals/change_review.js";
import { apply, decline, DeclineDialog, undone, whyNot } from "../parts/proposals/deciding.js";
import { FirstWork, State, SubmissionList, submitter, Submitter } from "../parts/proposals/submission_list.js";

/** @typedef {import("../parts/proposals/deciding.js").Seen} Seen */

/** The number of others that are listed. */
const OTHERS = 10;
const mayDecideOn = (/** @type {"logo" | "theme"} */ kind) => may(KINDS[kind].write);

/** @param {{params: Record<string, string>}} props */
export default function SubmissionPage({ params }) {
  const id = Number(params["proposal_id"]);
  const { data, failure, again } = useRead((signal) => call("get", "/api/proposals/{proposal_id}", { path: { proposal_id: id }, signal }), [id]);
  useLists("author", "user");
  useEffect(() => {
    void readQueue({ ifOld: true });
    void readStates();
    // Those that have the same picture or CSS are named.
    if (reviews()) for (const kind of /** @type {const} */ (["logo", "theme"])) void readList(kind);
  }, []);
  if (!data) return h("div", { class: "view" }, h(ViewHead, { title: t("submission.title") }), h(Pending, { failure, again }));
  return h(Shown, { key: `${id} ${data.data.state}`, seen: { proposal: data.data, etag: data.etag }, again: () => void again() });
}

/** @param {{seen: Seen, again: () => void}} props */
function Shown({ seen, again }) {
  const { proposal } = seen;
  const { proposal_id: id, title, note, changes } = proposal;
  const isMine = isOwn(proposal);
  const mayDecide = isDecidable(proposal);
  const isOpen = proposal.state === "waiting" || (isMine && proposal.state === "declined");
  const canMend = (/** @type {Proposal["changes"][number]} */ change) => isOpen && (mayDecide || isMine) && !change.remove && !change.block && ["logo", "theme", "author"].includes(change.kind);
  const mend = (/** @type {number} */ place) => void navigate(`submissions/${id}/changes/${place}`);
  return h("div", { class: `view submission${isOpen ? " decidable" : ""}` },
    h("div", { class: "spread record-way" }, h(Breadcrumbs, mayDecide ? { list: "submissions", title: t("submissions.title"), name: title } : { list: "works", title: t("works.title"), name: title }), mayDecide && h(Neighbours, { id })),
    h(ViewHead, { title }),
    h(Outcome, { proposal }),
    h("div", { class: "stack submission-changes" },
      changes.length === 0 && h("p", { class: "hint" }, t("submission.forgotten")),
      note && h("blockquote", { class: "note", dir: "auto" }, note),
      changes.map((change, place) => [
        h(ChangeReview, { key: place, change, isReviewed: mayDecide && proposal.state === "waiting" }, changes.length > 1 && canMend(change) && h(Button, { tone: "quiet", icon: "Pencil", onClick: () => mend(place) }, t(mayDecide ? "review.mend" : "submit.change"))),
        change.submitted && h(Mended, { key: `mended ${place}`, change }),
      ]),
      !isMine && h(Others, { proposal }),
    ),
    isOpen && h(Actions, { seen, again, isMine, mayDecide, mend: changes[0] && changes.length === 1 && canMend(changes[0]) ? () => mend(0) : undefined }),
  );
}

/** The submitter, the state and the decision. @param {{proposal: Proposal}} props */
function Outcome({ proposal }) {
  const { created_at: created, decided_at: decided, reason, undone, undone_at: undoneAt, undone_by: by, undone_user_id: undoerId, undone_user_name: undoer, state } = proposal;
  return [
    h("p", { key: "who", class: "cluster submission-facts" },
      h(State, { proposal }),
      proposal.first_work && !isOwn(proposal) && h(FirstWork, {}),
      h("span", { class: "hint" }, rich("submission.by", { who: h(Submitter, { of: proposal }), time: h(Time, { seconds: created }) })),
      decided !== null && proposal.state !== "waiting" && h("span", { class: "hint" }, rich(`submission.${proposal.state}.at`, { time: h(Time, { seconds: decided }) })),
    ),
    state === "applied" && proposal.artworks.map((artwork) => h(AppliedWork, { key: `${artwork.kind} ${artwork.id}`, artwork, isMine: isOwn(proposal) })),
    state === "declined" && reason && h("div", { key: "reason", class: "remark", dir: "auto" }, t("submission.because", { reason })),
    undone &&
      undoneAt !== null &&
      h("div", { key: "undone", class: "remark" }, rich("submission.undone", { who: h(Submitter, { of: { user_id: undoerId, user_name: undoer } }), time: h(Time, { seconds: undoneAt }) }), " ", may("changes:read") && by && h(Link, { to: `history?request=${encodeURIComponent(by)}` }, t("submission.undone.history"))),
  ];
}

/** Whether a work that was applied is blocked or gone, and the way on for its author. @param {{artwork: Proposal["artworks"][number], isMine: boolean}} props */
function AppliedWork({ artwork: { kind, id }, isMine }) {
  const { blocked } = statesOf(kind, id);
  const { data, failure } = useRead(async (signal) => (await readOne(kind, id, { signal })).data, [kind, id]);
  if (failure?.status === 404) return h("div", { class: "remark cluster" }, h("span", null, t("work.removed")), isMine && h(Link, { to: "submit", class: "button plain" }, t("submit.title.long")));
  return h("div", { class: blocked ? "remark cluster" : "cluster" },
    blocked && h("span", { dir: "auto" }, t("work.blocked", { reason: blocked.reason })),
    data && isOnPage(kind, data) && h(OnPage, { to: `${kind}s/${id}` }),
    isMine && !mayDecideOn(kind) && h(Link, { to: `works/${kind}s/${id}`, class: "button plain" }, t("work.change")),
  );
}

/** The way through the queue without going back. @param {{id: number}} props */
function Neighbours({ id }) {
  const waiting = inTurn();
  const at = waiting.findIndex((each) => each.proposal_id === id);
  const around = at < 0 ? { next: waiting.find((each) => each.proposal_id > id), previous: waiting.findLast((each) => each.proposal_id < id) } : { next: waiting[at + 1], previous: waiting[at - 1] };
  return h(Ways, { place: at < 0 ? undefined : at, all: waiting.length, ways: around, go: (to) => void navigate(`submissions/${to.proposal_id}`, { replace: true }) });
}

/** What else the same person submitted. @param {{proposal: Proposal}} props */
function Others({ proposal }) {
  const { user_id: userId, proposal_id: id } = proposal;
  // Somebody else may have the id of a removed user, whose name is unknown.
  const isOther = (/** @type {{user_name: string | null, proposal_id: number}} */ each) => each.user_name === proposal.user_name && each.proposal_id !== id;
  const { data } = useRead(
    async (signal) => (userId === null ? [] : (await call("get", "/api/proposals", { query: { user_id: userId, order: "desc", limit: OTHERS + 1 }, signal })).data.filter(isOther).slice(0, OTHERS)),
    [userId, id],
  );
  const title = t("review.others", { name: submitter(proposal) });
  return h("aside", { class: "stack" },
    h("h2", null, title),
    data && (data.length > 0 ? h(SubmissionList, { proposals: data, label: title, hasSubmitter: false }) : h("p", { class: "hint" }, t("review.others.none"))),
  );
}

/** What can be done with it; on a phone within reach of the thumb. @param {{seen: Seen, again: () => void, isMine: boolean, mayDecide: boolean, mend: (() => void) | undefined}} props */
function Actions({ seen, again, isMine, mayDecide, mend }) {
  const [isAsking, setAsking] = useState(false);
  const [complaint, setComplaint] = useState("");
  const { proposal, etag } = seen;
  const path = { proposal_id: proposal.proposal_id };
  const failed = (/** @type {Failure} */ failure, /** @type {() => void} */ retry) => {
    if (failure.passes) return void sayFailure(failure, retry);
    setComplaint(whyNot(failure));
    void requeue();
    if (["outdated", "conflict"].includes(failure.kind)) again();
  };
  const { busy, run } = useRun({ failed });
  /** @param {"apply" | "decline"} what @param {() => Promise<unknown>} act */
  const decide = (what, act) => {
    setComplaint("");
    void run(act, undefined, what);
  };
  const withdrawn = () => {
    say(t("withdraw.done", { title: proposal.title }));
    again();
  };
  const withdraw = async () => {
    if (!(await ask({ title: t("withdraw.title", { title: proposal.title }), text: t("withdraw.text"), yes: t("withdraw"), no: t("cancel"), tone: "danger" }))) return;
    setComplaint("");
    await run(() => call("post", "/api/proposals/{proposal_id}/withdraw", { path, ifMatch: etag }), withdrawn, "withdraw");
  };
  const waits = proposal.state === "waiting";
  const idle = busy !== "";
  return [
    complaint && h("p", { key: "complaint", class: "complaint", role: "alert", dir: "auto" }, complaint),
    h("div", { key: "actions", class: "review-actions", role: "group", "aria-label": t("review.actions") },
      mayDecide && waits && h(Button, { tone: "primary", icon: "Check", shortcut: "A", busy: busy === "apply", idle, onClick: () => decide("apply", () => apply(seen)) }, t("review.apply")),
      mayDecide && waits && h(Button, { tone: "danger", icon: "X", shortcut: "R", idle, onClick: () => setAsking(true) }, t("review.decline")),
      mend && h(Button, { tone: mayDecide ? "plain" : "primary", icon: "Pencil", shortcut: "E", idle, onClick: mend }, t(mayDecide && waits ? "review.mend" : proposal.state === "declined" ? "submit.again" : "submit.change")),
      isMine && waits && h(Button, { tone: "plain", icon: "Undo2", busy: busy === "withdraw", idle, onClick: () => void withdraw() }, t("withdraw")),
    ),
    isAsking &&
      h(DeclineDialog, {
        key: "why",
        title: t("decline.title", { title: proposal.title }),
        begin: undone.id === proposal.proposal_id ? undone.reason : "",
        close: () => setAsking(false),
        decline: (reason) => {
          setAsking(false);
          decide("decline", () => decline(seen, reason));
        },
      }),
  ];
}

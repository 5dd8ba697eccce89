/** The submissions: those that wait for a decision, or those in another state. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { call, returned } from "../client.js";
import { say } from "../notices.js";
import { ask } from "../parts/primitives/dialog.js";
import { CHIPS, inTurn, queue, readQueue, requeue, waiting } from "../proposals.js";
import { readStates } from "../reader_states.js";
import { navigate, query, setQuery } from "../router.js";
import { me } from "../session.js";
import { t } from "../texts.js";
import { Button, EmptyState, Pending, Segmented, Skeleton, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRun } from "../parts/primitives/hooks.js";
import { usePages } from "../parts/primitives/pages.js";
import { ManyBar, SelectBox, useSelection } from "../parts/lists/selection.js";
import { decideMany, DeclineDialog } from "../parts/proposals/deciding.js";
import { SubmissionList } from "../parts/proposals/submission_list.js";

const STATES = /** @type {const} */ (["waiting", "applied", "declined", "withdrawn"]);
/** @typedef {typeof STATES[number]} State */
const PAGE = 50;

export default function Submissions() {
  const state = STATES.find((each) => each === query("state")) ?? STATES[0];
  const chips = state === "waiting" ? Object.keys(CHIPS) : ["mine"];
  const only = chips.find((each) => each === query("only")) ?? "";
  const title = t("submissions.title");
  const isQueue = state === "waiting" && only !== "mine";
  const [first] = isQueue ? inTurn() : [];
  useEffect(() => void readStates(), []);
  return h("div", { class: "view" },
    h(ViewHead, { title },
      first && h(Button, { tone: "primary", icon: "ArrowRight", shortcut: "J", onClick: () => void navigate(`submissions/${first.proposal_id}`) }, t("submissions.begin")),
    ),
    h("div", { class: "cluster" },
      h(Segmented, { label: t("field.state"), choices: STATES.map((each) => [each, t(`submissions.${each}`)]), chosen: state, choose: (/** @type {State} */ each) => setQuery({ state: each === STATES[0] ? "" : each }) }),
      h("div", { class: "cluster", role: "group", "aria-label": t("filters") },
        chips.map((each) => h("button", { key: each, type: "button", class: "button plain pill", "aria-pressed": each === only, onClick: () => setQuery({ only: each === only ? "" : each }) }, t(/** @type {any} */ (`submissions.only.${each}`)))),
      ),
    ),
    isQueue ? h(Queue, { proposals: queue.value.proposals && inTurn() }) : h(Pages, { key: `${state} ${only}`, state, isMine: only === "mine", label: title }),
  );
}

/** @param {{proposals: ProposalSummary[] | undefined}} props */
function Queue({ proposals }) {
  const { failure } = queue.value;
  const selection = useSelection("proposal_id", proposals);
  const chosen = proposals?.filter((each) => selection.ids.value.has(each.proposal_id)) ?? [];
  useEffect(() => void readQueue(), [returned.value]);
  // Names that look like another user's are marked.
  useLists("user");
  if (!proposals) return h(Pending, { failure, again: requeue });
  if (proposals.length === 0) {
    return waiting() > 0 ? h(EmptyState, { icon: "SearchX", title: t("submissions.empty") }) : h(EmptyState, { icon: "Check", title: t("submissions.empty.waiting") }, h("p", null, t("submissions.empty.waiting.text")));
  }
  return [
    h(ManyBar, { key: "bar", kind: "proposal", artworks: proposals, selection, acts: SelectNone }),
    h(SubmissionList, { key: "list", proposals, label: t("submissions.waiting"), hasState: false, selection, box: boxOf(selection) }),
    chosen.length > 0 && h(Decide, { key: "decide", chosen, selection }),
  ];
}

/** @param {ListSelection} selection @returns {(proposal: ProposalSummary) => any} */
const boxOf = (selection) => ({ proposal_id: id, title: name }) => h(SelectBox, { selection, id, name });

/** @param {{selection: ListSelection}} props */
const SelectNone = ({ selection }) => h(Button, { tone: "quiet", onClick: () => selection.set([]) }, t("bulk.none"));

/** What can be decided about those that are selected; on a phone within reach of the thumb. @param {{chosen: ProposalSummary[], selection: ListSelection}} props */
function Decide({ chosen, selection }) {
  const { busy, run } = useRun();
  const [isAsking, setAsking] = useState(false);
  const idle = busy !== "";
  const decide = (/** @type {"apply" | "decline"} */ act, reason = "") =>
    run(async () => {
      if (await decideMany(act, chosen, reason)) selection.set([]);
    }, undefined, act);
  const declined = (/** @type {string} */ reason) => {
    setAsking(false);
    void decide("decline", reason);
  };
  return h("div", { class: "review-actions", role: "group", "aria-label": t("review.actions") },
    h(Button, { tone: "primary", icon: "Check", shortcut: "A", busy: busy === "apply", idle, onClick: () => void decide("apply") }, t("review.apply")),
    h(Button, { tone: "danger", icon: "X", shortcut: "R", busy: busy === "decline", idle, onClick: () => setAsking(true) }, t("review.decline")),
    isAsking && h(DeclineDialog, { title: t("submissions.decline.title", { n: chosen.length }), close: () => setAsking(false), decline: declined }),
  );
}

/** Withdraws one's own that are selected. @param {{chosen: ProposalSummary[], selection: ListSelection}} props */
function Withdraw({ chosen, selection }) {
  const after = () => {
    void requeue();
    returned.value += 1;
  };
  const { busy, run } = useRun({ after });
  const withdraw = async () => {
    if (!(await ask({ title: t("withdraw.many.title", { n: chosen.length }), text: t("withdraw.text"), yes: t("withdraw"), no: t("cancel"), tone: "danger" }))) return;
    await run(async () => {
      for (const { proposal_id: id } of chosen) await call("post", "/api/proposals/{proposal_id}/withdraw", { path: { proposal_id: id } });
      say(t("withdraw.many.done", { n: chosen.length }));
    });
  };
  return [h(Button, { key: "withdraw", icon: "Undo2", busy: busy !== "", onClick: () => void withdraw() }, t("withdraw")), h(SelectNone, { key: "none", selection })];
}

/** @param {{state: State, isMine: boolean, label: string}} props */
function Pages({ state, isMine, label }) {
  const { records: proposals, more, unread } = usePages(
    async (/** @type {ProposalSummary | undefined} */ last, signal) => call("get", "/api/proposals", { query: { state, ...(isMine ? { user_id: me.value?.user_id } : {}), order: "desc", limit: PAGE, ...(last && { after: last.proposal_id }) }, signal }),
    [state],
  );
  const isOpen = isMine && state === "waiting";
  const selection = useSelection("proposal_id", isOpen ? proposals : []);
  if (!proposals) return unread ?? h(Skeleton, {});
  if (proposals.length === 0) return h(EmptyState, { title: t("submissions.empty") });
  return [
    isOpen && h(ManyBar, { key: "bar", kind: "proposal", artworks: proposals, selection, acts: Withdraw }),
    h(SubmissionList, { key: "list", proposals, label, hasState: state === "applied", ...(isOpen && { selection, box: boxOf(selection) }) }),
    unread,
    more && h("div", { key: "more", class: "cluster" }, more),
  ];
}

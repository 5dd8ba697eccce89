/** The submissions: those that wait for a decision, or those in another state; of members, their own. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { Failure, call, returned } from "../client.js";
import { isMember, queue, readQueue, requeue } from "../proposals.js";
import { readStates } from "../reader_states.js";
import { readList } from "../records.js";
import { navigate, query, setQuery } from "../router.js";
import { may } from "../session.js";
import { t } from "../texts.js";
import { Button, EmptyState, Link, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { SubmissionList } from "../parts/proposals/submission_list.js";

/** @typedef {import("../proposals.js").ProposalSummary} ProposalSummary */

const STATES = /** @type {const} */ (["waiting", "applied", "declined", "withdrawn"]);
/** @typedef {typeof STATES[number]} State */
const PAGE = 50;

export default function Submissions() {
  const isOwn = isMember();
  // Members look for decisions.
  const states = isOwn ? /** @type {const} */ (["", ...STATES]) : STATES;
  const state = states.find((each) => each === query("state")) ?? states[0];
  const title = t(isOwn ? "submissions.mine" : "submissions.title");
  const [first] = queue.value.proposals ?? [];
  useEffect(() => void readStates(), []);
  return h("div", { class: "view" },
    h(ViewHead, { title },
      isOwn
        ? h(Button, { tone: "primary", icon: "Plus", shortcut: "N", onClick: () => void navigate("submit") }, t("submit.title.long"))
        : state === "waiting" && first && h(Button, { tone: "primary", icon: "ArrowRight", shortcut: "J", onClick: () => void navigate(`submissions/${first.proposal_id}`) }, t("submissions.begin")),
    ),
    h("div", { class: "segmented states", role: "group", "aria-label": t("submissions.state") },
      states.map((each) =>
        h("button", { key: each, type: "button", "aria-pressed": each === state, onClick: () => setQuery({ state: each === states[0] ? "" : each }) }, t(`submissions.${each || "all"}`)),
      ),
    ),
    !isOwn && state === "waiting" ? h(Queue, {}) : h(Pages, { key: state, state, label: title }),
  );
}

function Queue() {
  const { proposals, failure } = queue.value;
  useEffect(() => {
    void readQueue();
    // Names that look like another user's are marked.
    if (may("users:read")) void readList("user");
  }, [returned.value]);
  if (!proposals) return failure ? h(Unread, { failure, again: () => void requeue() }) : h(Skeleton, {});
  if (proposals.length === 0) return h(EmptyState, { icon: "Check", title: t("submissions.empty.waiting") }, h("p", null, t("submissions.empty.waiting.text")));
  return h(SubmissionList, { proposals, label: t("submissions.waiting"), hasState: false });
}

/** @param {{state: State | "", label: string}} props */
function Pages({ state, label }) {
  const [read, setRead] = useState(/** @type {{proposals: ProposalSummary[], after: number} | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const load = async (/** @type {number} */ after) => {
    try {
      const { data, next } = await call("get", "/api/proposals", { query: { ...(state ? { state } : {}), order: "desc", limit: PAGE, ...(after ? { after } : {}) } });
      const last = data.at(-1);
      setRead({ proposals: [...(after && read ? read.proposals : []), ...data], after: next && last ? last.proposal_id : 0 });
      setFailure(undefined);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
  };
  useEffect(() => void load(0), [state, returned.value]);
  if (!read) return failure ? h(Unread, { failure, again: () => void load(0) }) : h(Skeleton, {});
  if (read.proposals.length === 0) return h(EmptyState, { title: t("submissions.empty") }, isMember() && h(Link, { to: "submit", class: "button plain" }, t("submit.title.long")));
  return [
    h(SubmissionList, { key: "list", proposals: read.proposals, label, hasState: state === "" || state === "applied" }),
    read.after > 0 && h("div", { key: "more", class: "cluster" }, h(Button, { onClick: () => void load(read.after) }, t("record.history.more"))),
  ];
}

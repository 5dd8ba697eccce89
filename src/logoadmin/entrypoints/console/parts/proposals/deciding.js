/**
 * Decisions about submissions. Applying is undone like every change. Declining has no way back in the interface, so it
 * is sent only when the time to undo it is over. Until then the submission keeps waiting, also for its submitter.
 */
import { effect } from "../../vendor/preact.js";
import { Failure, call } from "../../client.js";
import { dismiss, say, sayDone, sayFailure } from "../../notices.js";
import { leaveQueue, queue, requeue, settle } from "../../proposals.js";
import { navigate, path } from "../../router.js";
import { me } from "../../session.js";
import { t } from "../../texts.js";
import { ask } from "../primitives/dialog.js";
import { readListsOf } from "../history/changes.js";
import { newsOf } from "./submission_words.js";

/** @typedef {import("../../proposals.js").Proposal} Proposal */
/** @typedef {{proposal: Proposal, etag: string}} Seen A submission in the version that was looked at. */

/** For how long a decision can be undone before it is announced, in milliseconds (contract R6 waits as long). */
const GRACE = 10_000;

/** @type {{seen: Seen, reason: string, notice: number, timer: ReturnType<typeof setTimeout>} | undefined} */
let pending;

/** Send the decision that can still be undone. @param {{keepalive?: boolean}} [how] `keepalive`: though the page is being closed. */
async function send({ keepalive = false } = {}) {
  if (!pending) return;
  const { seen, reason, notice, timer } = pending;
  const { proposal_id: id, title } = seen.proposal;
  pending = undefined;
  clearTimeout(timer);
  dismiss(notice);
  const go = async (/** @type {(() => Promise<any>) | undefined} */ repeat) => {
    try {
      await (repeat ?? (() => call("post", "/api/proposals/{proposal_id}/decline", { path: { proposal_id: id }, body: { reason }, ifMatch: seen.etag, keepalive })))();
      settle(id);
      say(t("submission.declined.done", { title }));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.passes) sayFailure(error, () => void go(error.repeat));
      else say(t("submission.declined.not", { title }), { tone: "failed" });
      void requeue(id);
    }
  };
  await go(undefined);
}

/** Where to go after a decision: to the next one that waits, or to the list. @param {number} id */
function goOn(id) {
  const waiting = queue.value.proposals ?? [];
  const at = waiting.findIndex((each) => each.proposal_id === id);
  const next = waiting[at + 1] ?? waiting.find((each) => each.proposal_id !== id);
  leaveQueue(id);
  return navigate(next ? `submissions/${next.proposal_id}` : "submissions", { replace: true });
}

/** @param {Seen} seen @param {string} reason */
export async function decline(seen, reason) {
  await send();
  const { proposal_id: id, title } = seen.proposal;
  const undo = () => {
    if (pending?.seen !== seen) return;
    clearTimeout(pending.timer);
    pending = undefined;
    void requeue(id);
    void navigate(`submissions/${id}`);
  };
  const notice = say(t("submission.declining", { title, n: GRACE / 1000 }), { action: { text: t("undo"), run: undo, shortcut: "Control+Z" } });
  pending = { seen, reason, notice, timer: setTimeout(() => void send(), GRACE) };
  await goOn(id);
}

/** Apply a submission; what it newly contacts or risks is asked about first. @param {Seen} seen @returns {Promise<boolean>} whether it was applied @throws {Failure} */
export async function apply({ proposal, etag }) {
  const news = newsOf(proposal);
  if (news.length > 0 && !(await ask({ title: t("review.apply.title", { title: proposal.title }), text: t("review.apply.text"), list: news, yes: t("review.apply"), no: t("cancel") }))) return false;
  await send();
  const { proposal_id: id, title } = proposal;
  const { requestId } = await call("post", "/api/proposals/{proposal_id}/apply", { path: { proposal_id: id }, ifMatch: etag });
  const changed = () => readListsOf(/** @type {any} */ (proposal.changes));
  sayDone(t("submission.applied.done", { title }), [requestId], () => {
    changed();
    void requeue();
    void navigate(`submissions/${id}`);
  });
  changed();
  const gone = goOn(id);
  settle(id);
  await gone;
  return true;
}

effect(() => {
  if (!/^submissions\b/.test(path.value)) void send();
});
addEventListener("pagehide", () => void send({ keepalive: true }));
me.subscribe((user) => {
  if (user || !pending) return;
  clearTimeout(pending.timer);
  pending = undefined;
});

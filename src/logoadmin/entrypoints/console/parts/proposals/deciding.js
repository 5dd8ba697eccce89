/**
 * Decisions about submissions. Applying one is undone like every change. Declining has no way back in the interface, so
 * it is sent only when the time to undo it is over, and so are decisions about several. Until then the submissions keep
 * waiting, also for their submitters.
 */
import { effect, h } from "../../vendor/preact.js";
import { Failure, call } from "../../client.js";
import { describe, dismiss, say, sayDone, wordsOfWait } from "../../notices.js";
import { inTurn, leaveQueue, requeue, settle } from "../../proposals.js";
import { leaving, navigate, path, withChoices } from "../../router.js";
import { me } from "../../session.js";
import { t } from "../../texts.js";
import { useRead } from "../primitives/hooks.js";
import { ask } from "../primitives/dialog.js";
import { readListsOf } from "../history/changes.js";
import { ReasonDialog } from "../primitives/form_dialog.js";
import { newsOf } from "./submission_list.js";

/** @typedef {{proposal: Proposal, etag: string}} Seen A submission in the version that was looked at. */

/** For how long a decision can be undone before it is announced, in milliseconds (contract R6 waits as long). */
const GRACE = 10_000;
/** The most failures that are explained. */
const NAMED = 3;

/** @typedef {"apply" | "decline"} Act */
/** @typedef {{act: Act, all: Seen[], reason: string}} Decision About one submission, or the same about several. */

/** @type {{decision: Decision, notice: number, timer: ReturnType<typeof setTimeout>} | undefined} */
let pending;

/** @param {Seen} seen */
const idOf = ({ proposal }) => proposal.proposal_id;

/** Announce a decision, which is sent in ten seconds. @param {Decision} decision @param {() => void} then After it was undone. */
function begin(decision, then) {
  const { act, all } = decision;
  const title = all[0]?.proposal.title ?? "";
  const undo = () => {
    if (pending?.decision !== decision) return;
    clearTimeout(pending.timer);
    pending = undefined;
    void requeue(...all.map(idOf));
    then();
  };
  const text = all.length === 1 ? t(`submission.${act}.soon`, { title, n: GRACE / 1000 }) : t(`submissions.${act}.soon`, { n: all.length, seconds: GRACE / 1000 });
  const notice = say(text, { action: { text: t("undo"), run: undo, shortcut: "Control+Z" } });
  pending = { decision, notice, timer: setTimeout(() => void send(), GRACE) };
}

/** Send the decision that can still be undone. @param {{keepalive?: boolean}} [how] `keepalive`: though the page is being closed. */
async function send({ keepalive = false } = {}) {
  if (!pending) return;
  const { decision, notice, timer } = pending;
  pending = undefined;
  clearTimeout(timer);
  dismiss(notice);
  const sent = carryOut(decision, keepalive);
  leaving.sent = () => sent;
  await sent;
}

/**
 * Each submission is decided by a request of its own: if one fails, the others are decided all the same.
 *
 * @param {Decision} decision @param {boolean} [keepalive] @param {Map<number, () => Promise<any>>} [repeats] What sends a request again whose answer was lost, by submission.
 */
async function carryOut({ act, all, reason }, keepalive = false, repeats = new Map()) {
  /** @type {{seen: Seen, requestId: string}[]} */
  const done = [];
  /** @type {{seen: Seen, failure: Failure}[]} */
  const failed = [];
  const one = async (/** @type {Seen} */ seen) => {
    const options = { path: { proposal_id: idOf(seen) }, ifMatch: seen.etag, keepalive };
    try {
      const answer = await (repeats.get(idOf(seen)) ?? (() => (act === "apply" ? call("post", "/api/proposals/{proposal_id}/apply", options) : call("post", "/api/proposals/{proposal_id}/decline", { ...options, body: { reason } }))))();
      done.push({ seen, requestId: answer.requestId });
    } catch (failure) {
      if (!(failure instanceof Failure)) throw failure;
      failed.push({ seen, failure });
    }
  };
  // Nothing that waits for an answer goes on after the page.
  if (keepalive) await Promise.all(all.map(one));
  else for (const seen of all) await one(seen);
  done.forEach(({ seen }) => settle(idOf(seen)));
  if (done.length > 0) report(act, done);
  if (failed.length === 0) return;
  void requeue(...failed.map(({ seen }) => idOf(seen)));
  const left = failed.filter(({ failure }) => failure.passes);
  const again = new Map(left.flatMap(({ seen, failure }) => (failure.repeat ? [[idOf(seen), failure.repeat]] : [])));
  const why = (/** @type {Failure} */ failure, /** @type {number | undefined} */ seconds) => (seconds !== undefined && failure.until ? wordsOfWait(failure)(seconds) : whyNot(failure));
  const words = (/** @type {number | undefined} */ seconds) => [
    t(`submissions.${act}.not`, { n: failed.length }),
    ...failed.slice(0, NAMED).map(({ seen, failure }) => t("submissions.why", { title: seen.proposal.title, why: why(failure, seconds) })),
    failed.length > NAMED ? t("attention.more", { n: failed.length - NAMED }) : "",
  ].join(" ");
  const way = left.length > 0 ? { action: { text: t("tryAgain"), run: () => void carryOut({ act, all: left.map(({ seen }) => seen), reason }, false, again) } } : {};
  say(words(undefined), { tone: "failed", ...way, words, until: Math.max(...failed.map(({ failure }) => failure.until)), reference: failed[0]?.failure.reference ?? "" });
}

/** @param {Act} act @param {{seen: Seen, requestId: string}[]} done */
function report(act, done) {
  const text = done.length === 1 ? t(`submission.${act}.done`, { title: done[0]?.seen.proposal.title ?? "" }) : t(`submissions.${act}.done`, { n: done.length });
  if (act === "decline") return void say(text);
  const changed = () => readListsOf(/** @type {any} */ (done.flatMap(({ seen }) => seen.proposal.changes)));
  changed();
  sayDone(text, done.map(({ requestId }) => requestId), () => {
    changed();
    void requeue();
    if (done[0] && done.length === 1) void navigate(`submissions/${idOf(done[0].seen)}`);
  });
}

/** @param {Failure} failure @returns {string} why a decision about a submission was not made */
export function whyNot(failure) {
  const changed = /^Changed since proposal \d+ was made: (.*)$/.exec(failure.detail);
  if (changed) return t("review.stale", { records: changed[1] ?? "" });
  return failure.kind === "outdated" ? t("review.outdated") : describe(failure);
}

/** Where to go after a decision: to the next one of the queue, or to the list. @param {number} id */
function goOn(id) {
  const inOrder = inTurn();
  const at = inOrder.findIndex((each) => each.proposal_id === id);
  const next = inOrder[at + 1] ?? inOrder.find((each) => each.proposal_id !== id);
  leaveQueue(id);
  return navigate(next ? `submissions/${next.proposal_id}` : withChoices("submissions"), { replace: true });
}

/** The reasons that were typed, by submission: whether the dialog was left or the decline undone, the next one begins with it. @type {Map<number, string>} */
export const drafts = new Map();

/** @param {Seen} seen @param {string} reason */
export async function decline(seen, reason) {
  await send();
  const id = idOf(seen);
  begin({ act: "decline", all: [seen], reason }, () => void navigate(`submissions/${id}`));
  await goOn(id);
}

/** @param {string} title @param {string[]} news What is new in it. @returns {Promise<boolean>} whether it may be applied: what it newly contacts or risks is asked about first */
const isWanted = async (title, news) => news.length === 0 || ask({ title, text: t("review.apply.text"), list: news, yes: t("review.apply"), no: t("cancel") });

/** Apply a submission. @param {Seen} seen @returns {Promise<boolean>} whether it was applied @throws {Failure} */
export async function apply(seen) {
  const { proposal, etag } = seen;
  if (!(await isWanted(t("review.apply.title", { title: proposal.title }), newsOf(proposal)))) return false;
  await send();
  const { requestId } = await call("post", "/api/proposals/{proposal_id}/apply", { path: { proposal_id: idOf(seen) }, ifMatch: etag });
  report("apply", [{ seen, requestId }]);
  const gone = goOn(idOf(seen));
  settle(idOf(seen));
  await gone;
  return true;
}

/** @param {ProposalSummary} proposal @returns {string} what the list shows of it */
const shownOf = ({ title, counts, names, pictures, new_hosts: hosts, risks }) => JSON.stringify([title, Object.entries(counts).sort(), names, pictures, hosts, risks]);

/**
 * Decide about several submissions of the list at once.
 *
 * @param {Act} act @param {ProposalSummary[]} proposals @param {string} [reason] Of a decline.
 * @returns {Promise<boolean>} whether that begins @throws {Failure}
 */
export async function decideMany(act, proposals, reason = "") {
  const news = proposals.flatMap((each) => newsOf(each).map((what) => t("submissions.why", { title: each.title, why: what })));
  if (act === "apply" && !(await isWanted(t("submissions.apply.title", { n: proposals.length }), news))) return false;
  await send();
  /** @type {Seen[]} */
  const all = [];
  for (const each of proposals) {
    const { data, etag } = await call("get", "/api/proposals/{proposal_id}", { path: { proposal_id: each.proposal_id } });
    // Another one than the list shows is another decision.
    if (data.state === "waiting" && shownOf(data) === shownOf(each)) all.push({ proposal: data, etag });
  }
  const others = proposals.length - all.length;
  if (all.length > 0) begin({ act, all, reason }, () => undefined);
  if (others > 0) {
    say(t("submissions.changed", { n: others }), { tone: "failed" });
    await requeue();
  }
  leaveQueue(...all.map(idOf));
  return true;
}

effect(() => {
  if (!/^submissions\b/.test(path.value)) void send();
});
addEventListener("pagehide", () => void send({ keepalive: true }));
me.subscribe((user) => {
  if (user) return;
  drafts.clear();
  clearTimeout(pending?.timer);
  pending = undefined;
});

/** The number of declined submissions in which earlier reasons are looked for, and of those that are offered. */
const LATEST = 100;
const OFFERED = 5;

/** @param {AbortSignal} signal @returns {Promise<string[]>} the reasons that the user gave, the latest first */
async function earlierReasons(signal) {
  const { data } = await call("get", "/api/proposals", { query: { state: "declined", order: "desc", limit: LATEST }, signal });
  return [...new Set(data.flatMap((each) => (each.decided_by === me.value?.user_id && each.reason ? [each.reason] : [])))].slice(0, OFFERED);
}

/** The question why a submission is declined, with the reasons that one gave before. @param {{title: string, begin?: string, keep?: (reason: string) => void, decline: (reason: string) => void, close: () => void}} props See `ReasonDialog`. */
export function DeclineDialog({ decline, ...props }) {
  const { data: earlier } = useRead(earlierReasons);
  return h(ReasonDialog, { ...props, label: t("decline.reason"), hint: t("decline.hint"), yes: t("decline"), most: 1000, earlier, give: decline });
}

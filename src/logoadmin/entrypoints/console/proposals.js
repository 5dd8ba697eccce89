/** Proposals: the rights to decide on them, and the queue of those that wait (contract R4). */
import { signal } from "./vendor/preact.js";
import { call, Failure, ignoreFailure } from "./client.js";
import { KINDS } from "./records.js";
import { withChoices } from "./router.js";
import { may, me } from "./session.js";

/** @typedef {{proposals: ProposalSummary[] | undefined, failure: Failure | undefined}} Queue */

export const PROPOSE = "proposals:write";
const writes = Object.values(KINDS).map(({ write }) => write);
const READS = ["users:read", "roles:read", "changes:read"];
/** How many are read at once. */
const PAGE = 500;
/** For how long the queue counts as fresh, in milliseconds. */
const FRESH = 15_000;

/** @returns {boolean} whether the user sees their own works and submissions, and nothing else */
export const isMember = () => may(PROPOSE) && ![...writes, ...READS].some(may);

/** @returns {boolean} whether the user may decide on some proposals */
export const reviews = () => [KINDS.logo, KINDS.theme, KINDS.author].some(({ write }) => may(write));

/** @param {ProposalSummary} proposal @returns {boolean} whether the user submitted it */
export const isOwn = (proposal) => proposal.user_name !== null && proposal.user_id === me.value?.user_id;

/** @param {ProposalSummary} proposal @returns {boolean} whether the user may decide on it: the proposals of others are shown to nobody else */
export const isDecidable = (proposal) => !isOwn(proposal) || Object.keys(proposal.counts).every((kind) => may(KINDS[/** @type {KindName} */ (kind)].write));

/** How many decisions and blocks a member has not seen (contract R7). */
export const unseen = signal(0);
/** Increases as they are marked as seen: a number that was asked for before is none of the time after. */
let marks = 0;

/** Read that number, unless it was read just now. */
export async function readUnseen() {
  if (!isMember() || Date.now() < readAt + FRESH) return;
  readAt = Date.now();
  const before = marks;
  const answer = await call("get", "/api/auth/me/notices").catch(ignoreFailure);
  if (answer && before === marks) unseen.value = answer.data.unseen;
}

/** The member has seen them all. */
export async function markSeen() {
  marks += 1;
  const answer = await call("post", "/api/auth/me/notices/seen").catch(ignoreFailure);
  marks += 1;
  if (answer) unseen.value = 0;
}

/** The filters of the queue. @type {Record<string, (proposal: ProposalSummary) => boolean>} */
export const CHIPS = {
  risks: ({ new_hosts: hosts, risks }) => hosts.length + risks.length > 0,
  first: (proposal) => proposal.first_work,
  mine: isOwn,
};

/** Those that wait for the user's decision, the oldest first. @type {Signal<Queue>} */
export const queue = signal({ proposals: undefined, failure: undefined });
let etag = "";
let readAt = 0;
/** Decided here, though the service does not know it yet. @type {Set<number>} */
const decided = new Set();

/** Read the queue if it changed. @param {{ifOld?: boolean}} [when] `ifOld`: only if it was not read just now. */
export async function readQueue({ ifOld = false } = {}) {
  if (!reviews() || (ifOld && Date.now() < readAt + FRESH)) return;
  readAt = Date.now();
  try {
    const query = { state: /** @type {const} */ ("waiting"), limit: PAGE };
    let answer = await call("get", "/api/proposals", { query, ...(etag ? { ifNoneMatch: etag } : {}) });
    if (answer.unmodified) return;
    const version = answer.etag;
    const all = [...answer.data];
    while (answer.next) {
      answer = await call("get", "/api/proposals", { query: { ...query, after: all.at(-1)?.proposal_id } });
      all.push(...answer.data);
    }
    etag = version;
    queue.value = { proposals: all.filter((each) => isDecidable(each) && !decided.has(each.proposal_id)), failure: undefined };
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    queue.value = { ...queue.value, failure: error };
  }
}

/** @returns {number} how many wait for the user's decision, as far as that is known */
export const waiting = () => queue.value.proposals?.length ?? 0;

/** @returns {ProposalSummary[]} those that the list of the queue shows, in which one goes from one to the next */
export function inTurn() {
  const chosen = CHIPS[new URLSearchParams(withChoices("submissions").split("?")[1]).get("only") ?? ""];
  return (queue.value.proposals ?? []).filter((each) => !chosen || chosen(each));
}

/** Take proposals out of the queue. @param {number[]} ids */
export function leaveQueue(...ids) {
  for (const id of ids) decided.add(id);
  queue.value = { ...queue.value, proposals: queue.value.proposals?.filter((each) => !ids.includes(each.proposal_id)) };
}

/** Let the queue show a proposal as the service has it, which knows the decision now. @param {number} id */
export const settle = (id) => decided.delete(id);

/** Read the queue again, with proposals that wait again. @param {number[]} ids */
export function requeue(...ids) {
  ids.forEach(settle);
  etag = "";
  return readQueue();
}

// The next user may decide on others.
me.subscribe((user) => {
  if (user) return;
  queue.value = { proposals: undefined, failure: undefined };
  unseen.value = 0;
  decided.clear();
  etag = "";
  readAt = 0;
});

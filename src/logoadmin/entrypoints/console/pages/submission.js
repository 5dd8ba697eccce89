/** One submission: what it would change, what its submitter proposed before, and the decision. */
import { h, useEffect, useMemo, useState } from "../vendor/preact.js";
import { call } from "../client.js";
import { say, sayFailure } from "../notices.js";
import { isOnPage, OnPage } from "../parts/artwork/artwork_states.js";
import { inTurn, isDecidable, isOwn, readQueue, requeue, reviews } from "../proposals.js";
import { readStates, statesOf } from "../reader_states.js";
import { KINDS, listOf, readList, readOne } from "../records.js";
import { navigate } from "../router.js";
import { may } from "../session.js";
import { enumeration, t } from "../texts.js";
import { Breadcrumbs, Button, Icon, Link, Pending, rich, Skeleton, Time, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRead, useRun } from "../parts/primitives/hooks.js";
import { ask } from "../parts/primitives/dialog.js";
import { Ways } from "../parts/primitives/pages.js";
import { apply, decline, DeclineDialog, drafts, whyNot } from "../parts/proposals/deciding.js";
import { changeWords, FirstWork, nameOfChange, State, SubmissionList, submitter, Submitter } from "../parts/proposals/submission_list.js";
import { nameOf } from "../presentation.js";
import { Picture } from "../parts/primitives/picture.js";
import { listedIn, Preview } from "../parts/css/css_preview.js";
import { OWN_HOSTS } from "../shared_settings.js";
import { Diff } from "../parts/diff/diff.js";
import { ChangeDiff } from "../parts/history/change_diff.js";
import { fieldsOfChange } from "../parts/history/changes.js";
import { NameMark } from "../parts/people/person.js";

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
  return h(Shown, { key: id, seen: { proposal: data.data, etag: data.etag }, again: () => void again() });
}

/** @param {{seen: Seen, again: () => void}} props */
function Shown({ seen, again }) {
  const { proposal } = seen;
  const { proposal_id: id, title, note, changes } = proposal;
  // Also shown where the submission was decided meanwhile, and no action is left.
  const [complaint, setComplaint] = useState("");
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
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    isOpen && h(Actions, { seen, again, setComplaint, isMine, mayDecide, mend: changes[0] && changes.length === 1 && canMend(changes[0]) ? () => mend(0) : undefined }),
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

/** What can be done with it; on a phone within reach of the thumb. @param {{seen: Seen, again: () => void, setComplaint: (text: string) => void, isMine: boolean, mayDecide: boolean, mend: (() => void) | undefined}} props */
function Actions({ seen, again, setComplaint, isMine, mayDecide, mend }) {
  const [isAsking, setAsking] = useState(false);
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
        begin: drafts.get(path.proposal_id) ?? "",
        keep: (reason) => void drafts.set(path.proposal_id, reason),
        close: () => setAsking(false),
        decline: (reason) => {
          setAsking(false);
          decide("decline", () => decline(seen, reason));
        },
      }),
  ];
}

/** Fields that are not in the table: the first is not for people, and changes of the others are shown separately. */
const APART = ["created_at", "preview_url", "custom_css"];

/** @param {Snapshot} record @param {boolean} [isNew] @returns {Snapshot} as in the history, without fields that are shown elsewhere or have their usual value */
function rest(record, isNew = false) {
  if (!record) return null;
  const { author_ids: authors, ...others } = record;
  if (isNew && others["active"] === true) delete others["active"];
  const linked = authors ? { authors: authors.map((/** @type {number} */ id) => ({ author_id: id })) } : {};
  return Object.fromEntries(Object.entries({ ...others, ...linked }).filter(([name]) => !APART.includes(name)));
}

/** @param {ProposedChange} change @param {Snapshot} before @param {Snapshot} after @returns {any} a change as in the history */
const asChange = ({ kind, id }, before, after) => ({ kind, id, before, after });

/** @param {{change: ProposedChange, isReviewed: boolean, children?: any}} props `isReviewed`: whether the reader decides about it. `children`: the actions. */
function ChangeReview({ change, isReviewed, children }) {
  const [before, after] = [/** @type {Snapshot} */ (change.before), /** @type {Snapshot} */ (change.after)];
  const others = useMemo(() => asChange(change, rest(before), rest(after, before === null)), [change]);
  const isArtwork = change.kind === "logo" || change.kind === "theme";
  return h("section", { class: `stack change-review${before ? "" : " is-new"}` },
    h("div", { class: "spread" }, h("h2", null, changeWords(change), " · ", h("bdi", null, nameOfChange(change)), change.kind === "author" && change.after && h(NameMark, { kind: "author", record: /** @type {any} */ ({ author_id: change.id, ...change.after }) })), children),
    (!isArtwork || fieldsOfChange(others).length > 0) && h("div", { class: "box panel" }, h(ChangeDiff, { change: others })),
    isArtwork && h(Artwork, { kind: /** @type {"logo" | "theme"} */ (change.kind), id: change.id, before, after, verdict: change.verdict, isReviewed }),
  );
}

/** The difference that a reviewer made to a change. @param {{change: ProposedChange}} props */
function Mended({ change }) {
  const whole = (/** @type {Snapshot} */ record) => record && { ...rest(record), preview_url: record["preview_url"], custom_css: record["custom_css"] };
  return h("section", { class: "stack change-review" },
    h("h2", null, t("submission.mended")),
    h("div", { class: "box panel" }, h(ChangeDiff, { change: asChange(change, whole(/** @type {Snapshot} */ (change.submitted)), whole(/** @type {Snapshot} */ (change.after))) })),
  );
}

/** The visible parts of an artwork: its picture and its CSS. @param {{kind: "logo" | "theme", id: number | null, before: Snapshot, after: Snapshot, verdict: Verdict | null, isReviewed: boolean}} props */
function Artwork({ kind, id, before, after, verdict, isReviewed }) {
  const css = { before: String(before?.["custom_css"] ?? ""), after: String(after?.["custom_css"] ?? "") };
  const isChanged = after !== null && css.before !== css.after;
  const target = String(before?.["target"] ?? "");
  const { data: old } = useRead(
    async (signal) => (css.before && isChanged ? (await call("post", "/api/css/verdict", { body: { kind, custom_css: css.before, target }, signal })).data : undefined),
    [kind, css.before, target, isChanged],
  );
  const twins = isReviewed && after ? twinsOf(kind, id, before, after) : [];
  const isKnown = !isChanged || !css.before || old !== undefined;
  const caption = (/** @type {"before" | "after"} */ which) => t(isChanged ? `review.preview.${which}` : "review.preview.same");
  const preview = (/** @type {"before" | "after"} */ which, /** @type {Verdict | null | undefined} */ judged, /** @type {Record<string, any>} */ record) =>
    h("figure", { key: which },
      h("figcaption", { class: "label" }, caption(which)),
      h(Preview, { label: `${caption(which)}: ${nameOf(kind, record)}`, kind, css: css[which], target: record["target"], picture: record["preview_url"], listed: judged ? listedIn(judged) : undefined }),
    );
  return [
    (isChanged || twins.length > 0) && h("div", { key: "news", class: "box divided news" }, isChanged && (isKnown ? h(News, { old, verdict }) : h(Skeleton, {})), twins.map((twin) => h(Twins, { key: twin.field, ...twin }))),
    h("div", { key: "looks", class: "review-looks" },
      h(Pictures, { before: before?.["preview_url"], after: after?.["preview_url"] }),
      after && (css.before || css.after) && h("div", { class: "pair" }, before && isChanged && preview("before", old, before), preview("after", verdict, after)),
    ),
    isChanged && h(Diff, { key: "diff", before: css.before, after: css.after, label: t("field.custom_css"), isBoxed: true }),
  ];
}

/** @param {{before: string | undefined, after: string | undefined}} props */
function Pictures({ before, after }) {
  const one = (/** @type {string} */ url, /** @type {TextKey} */ key) =>
    h("figure", { key }, h("figcaption", { class: "label" }, t(key)), h(Picture, { url, alt: t(key) }));
  const isSame = before === after;
  return h("div", { class: "pair pictures" },
    before !== undefined && !isSame && one(before, "review.picture.before"),
    after !== undefined && one(after, isSame ? "review.picture.same" : "review.picture.after"),
  );
}

/** The maximum number of works that are named. */
const NAMED = 3;

/**
 * @param {"logo" | "theme"} kind @param {number | null} id @param {Snapshot} before @param {Record<string, any>} after
 * @returns the works that have the same picture or the same CSS, as far as these are new and the lists are read
 */
function twinsOf(kind, id, before, after) {
  const fields = /** @type {const} */ (["preview_url", "custom_css"]).filter((field) => after[field] && after[field] !== before?.[field]);
  const isTwin = (/** @type {any} */ each, /** @type {typeof fields[number]} */ field) => each[KINDS[kind].id] !== id && each[field].trim() === after[field].trim();
  return fields.map((field) => ({ kind, field, works: (listOf(kind).value.records ?? []).filter((each) => isTwin(each, field)) })).filter(({ works }) => works.length > 0);
}

/** @param {{kind: "logo" | "theme", field: "preview_url" | "custom_css", works: any[]}} props */
function Twins({ kind, field, works }) {
  const links = works.slice(0, NAMED).flatMap((each) => [", ", h(Link, { to: `${kind}s/${each[KINDS[kind].id]}`, dir: "auto" }, nameOf(kind, each))]).slice(1);
  const more = works.length > NAMED ? ` ${t("attention.more", { n: works.length - NAMED })}` : "";
  return h("p", { class: "row verdict-words warned" }, h(Icon, { name: "CopyPlus" }), h("span", null, rich(`news.same.${field}`, { works: [links, more] })));
}

/** The hosts and risks of the new CSS that the old one lacks. @param {{old: Verdict | undefined, verdict: Verdict | null}} props */
function News({ old, verdict }) {
  if (!verdict) return h("p", { class: "row hint" }, t("loading"));
  const { imports } = verdict;
  const contacted = verdict.hosts.filter((host) => !OWN_HOSTS.includes(host));
  const hosts = contacted.filter((host) => !old?.hosts.includes(host));
  const isOld = (/** @type {string} */ risk) => old?.risks.some((each) => each.risk === risk) ?? false;
  const all = [...Map.groupBy(verdict.risks, ({ risk }) => risk)].map(([risk, places]) => /** @type {const} */ ([risk, [...new Set(places.map(({ line }) => line))]]));
  const found = all.filter(([risk]) => !isOld(risk));
  const line = (/** @type {any} */ words) => h("p", { class: "row verdict-words warned" }, h(Icon, { name: "TriangleAlert" }), h("span", null, words));
  const known = [...contacted.filter((host) => !hosts.includes(host)).map((host) => t("news.contacts", { hosts: host })), ...all.filter(([risk]) => isOld(risk)).map(([risk]) => t(`verdict.${risk}`))];
  return [
    hosts.length > 0 && line(rich("news.hosts", { hosts: h("bdi", { class: "host-name" }, enumeration(hosts)) })),
    found.map(([risk, lines]) => line([t(`verdict.${risk}`), " ", h("span", { class: "hint" }, t("news.lines", { n: lines.length, lines: enumeration(lines.slice(0, 5).map(String)) }))])),
    verdict.reason && line(t("verdict.notJudged")),
    imports.length > 0 && line(t("news.imports", { n: imports.length })),
    hosts.length + found.length + imports.length === 0 && !verdict.reason && h("p", { class: "row verdict-words" }, h(Icon, { name: "Check" }), h("span", null, t(old ? "news.nothing" : "news.nothing.new"))),
    known.length > 0 && h("p", { class: "row hint" }, t("news.known"), " ", known.join(" ")),
  ];
}

/** What a member made and submitted, as one list in which each entry has one state; what they have not seen yet is marked (contract R7). */
import { h, useEffect } from "../vendor/preact.js";
import { call } from "../client.js";
import { nameOf } from "../presentation.js";
import { markSeen, unseen } from "../proposals.js";
import { readStates, statesOf } from "../reader_states.js";
import { navigate } from "../router.js";
import { me } from "../session.js";
import { enumeration, t } from "../texts.js";
import { isOnPage, OnPage } from "../parts/artwork/artwork_states.js";
import { Button, EmptyState, Icon, Link, Pending, Time, ViewHead } from "../parts/primitives/basics.js";
import { useRead } from "../parts/primitives/hooks.js";
import { Picture } from "../parts/primitives/picture.js";

/** @typedef {"waiting" | "published" | "declined" | "blocked" | "left_out" | "withdrawn" | "off" | "gone"} State */
/** @typedef {{key: string, state: State, to: string, name: string, what: () => string, kind: string | undefined, picture: string | undefined, at: number, reason?: string | null | undefined, again?: string, change?: string, page?: string, isNew?: boolean}} Entry `key`: that of its notices. */

/** As many as a list has at once. */
const MOST = 1000;
/** The look of each state, and its words. @type {Record<State, [string, TextKey]>} */
const LOOKS = {
  waiting: ["waiting", "submission.waiting"],
  published: ["applied", "works.published"],
  declined: ["declined", "submission.declined"],
  blocked: ["declined", "state.blocked"],
  left_out: ["declined", "works.left_out"],
  withdrawn: ["withdrawn", "submission.withdrawn"],
  off: ["withdrawn", "works.off"],
  gone: ["withdrawn", "works.gone"],
};

export default function Works() {
  const { data, failure, again } = useRead(readEntries);
  useEffect(() => {
    if (!data?.unseen) return undefined;
    // In a tab in the background, nobody has seen it yet, and more may be decided until somebody does.
    if (document.visibilityState === "visible") return void markSeen();
    const look = () => void again();
    document.addEventListener("visibilitychange", look, { once: true });
    return () => document.removeEventListener("visibilitychange", look);
  }, [data]);
  // Something was decided while the list is open.
  useEffect(() => {
    if (data && unseen.value > 0) void again();
  }, [unseen.value]);
  return h("div", { class: "view" },
    h(ViewHead, { title: t("works.title") }, h(Button, { tone: "primary", icon: "Plus", shortcut: "N", onClick: () => void navigate("submit") }, t("submit.title.long"))),
    !data && h(Pending, { failure, again }),
    data?.entries.length === 0 && h(EmptyState, { icon: "Image", title: t("works.empty") }, h("p", null, t("works.empty.begin")), h(Link, { to: "submit", class: "button plain" }, t("submit.title.long"))),
    data && data.entries.length > 0 && h("ul", { class: "box divided submissions", "aria-label": t("works.title") }, data.entries.map((entry) => h("li", { key: entry.key, class: "submission-row" }, h(Row, entry)))),
  );
}

/** @param {Entry} props */
const Row = ({ state, to, name, what, kind, picture, at, reason, again, change, page, isNew }) => [
  h("span", { key: "picture", class: "submission-picture" }, picture && h(Picture, { url: picture, kind })),
  h("div", { key: "about", class: "stack tight submission-about" },
    h("span", { class: "spread" },
      h("span", null, isNew && h("span", { class: "dot" }, h("span", { class: "hidden" }, t("works.new"))), h(Link, { to, class: "submission-title", dir: "auto" }, name)),
      h("span", { class: `tag submission-${LOOKS[state][0]}` }, t(LOOKS[state][1])),
    ),
    h("span", { class: "hint" }, what(), " · ", h(Time, { seconds: at })),
    reason && h("span", { class: "submission-reason", dir: "auto" }, t("submission.because", { reason })),
    (change || again || page) && h("span", { class: "cluster" },
      again && h(Link, { to: again, class: "button plain" }, h(Icon, { name: "Pencil" }), t("submit.again")),
      page && h(OnPage, { to: page }),
      change && h(Link, { to: change }, t("work.change")),
    ),
  ),
];

/** @param {AbortSignal} signal @returns {Promise<{entries: Entry[], unseen: number}>} the newest first */
async function readEntries(signal) {
  const userId = me.value?.user_id;
  const [{ data: told }, made, { data: proposals }] = await Promise.all([
    call("get", "/api/auth/me/notices", { signal }),
    readWorks(userId, signal),
    call("get", "/api/proposals", { query: { user_id: userId, order: "desc", limit: MOST }, signal }),
    readStates(),
  ]);
  const news = new Set(told.notices.slice(0, told.unseen).flatMap(({ proposal_id: id, kind, id: workId }) => [`submissions/${id}`, `works/${kind}s/${workId}`]));
  const works = [...made.logos.map((logo) => ofWork("logo", logo)), ...made.themes.map((theme) => ofWork("theme", theme))];
  const ofKey = new Map(works.map((work) => [work.key, work]));
  /** @type {Entry[]} */
  const others = [];
  for (const proposal of proposals) {
    const applied = proposal.state === "applied" ? proposal.artworks.flatMap(({ kind, id }) => ofKey.get(`works/${kind}s/${id}`) ?? []) : [];
    if (applied.length === 0) others.push(ofProposal(proposal));
    // The newest submission of each work, which shows what its reviewer changed.
    for (const work of applied) if (work.to === work.key) work.to = `submissions/${proposal.proposal_id}`;
  }
  const entries = [...works, ...others].map((entry) => ({ ...entry, isNew: news.has(entry.key) || news.has(entry.to) }));
  return { entries: entries.toSorted((a, b) => b.at - a.at), unseen: told.unseen };
}

/** @param {number | undefined} userId @param {AbortSignal} signal @returns {Promise<{logos: object[], themes: object[]}>} by the author that the user is (contract R2) */
async function readWorks(userId, signal) {
  const { data: [author] } = await call("get", "/api/authors", { query: { user_id: userId, limit: 1 }, signal });
  if (!author) return { logos: [], themes: [] };
  const more = { path: { author_id: author.author_id }, query: { versions: true, limit: MOST }, signal };
  const [{ data: logos }, { data: themes }] = await Promise.all([call("get", "/api/authors/{author_id}/logos", more), call("get", "/api/authors/{author_id}/themes", more)]);
  return { logos, themes };
}

/** @param {ArtworkKind} kind @param {any} work @returns {Entry} */
function ofWork(kind, work) {
  const id = work[`${kind}_id`];
  const { blocked, left_out: leftOut } = statesOf(kind, id);
  const isLeftOut = Boolean(work.active && leftOut);
  return {
    state: blocked ? "blocked" : isLeftOut ? "left_out" : work.active ? "published" : "off",
    key: `works/${kind}s/${id}`,
    to: `works/${kind}s/${id}`,
    change: `works/${kind}s/${id}`,
    name: nameOf(kind, work),
    what: () => t(`${kind}.title`),
    kind,
    picture: work.preview_url,
    at: work.changed_at ?? work.created_at,
    reason: isLeftOut ? t(`works.left_out.${leftOut?.code ?? "invalid"}`) : blocked?.reason,
    ...(isOnPage(kind, work) ? { page: `${kind}s/${id}` } : {}),
  };
}

/** @param {ProposalSummary} proposal @returns {Entry} */
function ofProposal({ proposal_id: id, title, state, counts, pictures, reason, created_at: created, decided_at: decided, undone_at: undone }) {
  const kinds = Object.entries(counts);
  const isAlone = kinds.length === 1 && kinds[0]?.[1] === 1;
  return {
    state: state === "applied" ? "gone" : state,
    key: `submissions/${id}`,
    to: `submissions/${id}`,
    name: title,
    what: () => (isAlone ? t(/** @type {any} */ (`${kinds[0]?.[0]}.title`)) : enumeration(kinds.map(([kind, n]) => t(/** @type {any} */ (`many.${kind}`), { n })))),
    kind: kinds[0]?.[0],
    picture: pictures[0],
    at: decided ?? undone ?? created,
    reason,
    ...(state === "declined" ? { again: isAlone ? `submissions/${id}/changes/0` : `submissions/${id}` } : {}),
  };
}

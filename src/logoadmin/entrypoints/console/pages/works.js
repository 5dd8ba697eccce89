/** What a member made and submitted, as one list in which each entry has one state; what they have not seen yet is marked (contract R7). */
import { h, useEffect } from "../vendor/preact.js";
import { ROOT, call } from "../client.js";
import { nameOf } from "../presentation.js";
import { markSeen, unseen } from "../proposals.js";
import { readStates, statesOf } from "../reader_states.js";
import { navigate } from "../router.js";
import { me, pageConfig } from "../session.js";
import { enumeration, t } from "../texts.js";
import { Button, EmptyState, Link, Skeleton, Time, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Icon } from "../parts/primitives/icon.js";
import { Picture } from "../parts/primitives/picture.js";
import { useRead } from "../parts/primitives/use_read.js";

/** @typedef {import("../proposals.js").ProposalSummary} ProposalSummary */
/** @typedef {"logo" | "theme"} ArtworkKind */
/** @typedef {"waiting" | "published" | "declined" | "blocked" | "withdrawn" | "off" | "gone"} State */
/** @typedef {{state: State, to: string, name: string, what: string, picture: string | undefined, at: number, reason?: string | null | undefined, again?: string, page?: string, isNew: boolean}} Entry */

/** As many as a list has at once. */
const MOST = 1000;
const TONES = { waiting: "waiting", published: "applied", declined: "declined", blocked: "declined", withdrawn: "withdrawn", off: "withdrawn", gone: "withdrawn" };

export default function Works() {
  const { data, failure, again } = useRead(readEntries);
  useEffect(() => {
    if (data?.unseen && document.visibilityState === "visible") void markSeen();
  }, [data]);
  // Something was decided while the list is open.
  useEffect(() => {
    if (data && unseen.value > 0) void again();
  }, [unseen.value]);
  return h("div", { class: "view" },
    h(ViewHead, { title: t("works.title") }, h(Button, { tone: "primary", icon: "Plus", shortcut: "N", onClick: () => void navigate("submit") }, t("submit.title.long"))),
    !data && (failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {})),
    data?.entries.length === 0 && h(EmptyState, { icon: "Image", title: t("works.empty") }, h("p", null, t("works.empty.begin")), h(Link, { to: "submit", class: "button plain" }, t("submit.title.long"))),
    data && data.entries.length > 0 && h("ul", { class: "box divided submissions", "aria-label": t("works.title") }, data.entries.map((entry) => h("li", { key: entry.to, class: "submission-row" }, h(Row, entry)))),
  );
}

/** @param {Entry} props */
const Row = ({ state, to, name, what, picture, at, reason, again, page, isNew }) => [
  h("span", { key: "picture", class: "submission-picture" }, picture && h(Picture, { url: picture })),
  h("div", { key: "about", class: "stack tight submission-about" },
    h("span", { class: "spread" },
      h("span", null, isNew && h("span", { class: "dot" }, h("span", { class: "hidden" }, t("works.new"))), h(Link, { to, class: "submission-title", dir: "auto" }, name)),
      h("span", { class: `tag submission-${TONES[state]}` }, t(`works.${state}`)),
    ),
    h("span", { class: "hint" }, what, " · ", h(Time, { seconds: at })),
    reason && h("span", { class: "submission-reason", dir: "auto" }, t("submission.because", { reason })),
    (again || page) && h("span", { class: "cluster" },
      again && h(Link, { to: again, class: "button plain" }, h(Icon, { name: "Pencil" }), t("submit.again")),
      page && h("a", { class: "button plain", href: page, target: "_blank", rel: "noreferrer" }, h(Icon, { name: "Globe" }), t("works.page")),
    ),
  ),
];

/** @param {AbortSignal} signal @returns {Promise<{entries: Entry[], unseen: number}>} the newest first */
async function readEntries(signal) {
  const userId = me.value?.user_id;
  const [{ data: told }, works, { data: proposals }] = await Promise.all([
    call("get", "/api/auth/me/notices", { signal }),
    readWorks(userId, signal),
    call("get", "/api/proposals", { query: { user_id: userId, order: "desc", limit: MOST }, signal }),
    readStates(),
  ]);
  const news = told.notices.slice(0, told.unseen);
  const keys = new Set([...news.map(({ proposal_id: id }) => `submissions/${id}`), ...news.map(({ kind, id }) => `works/${kind}s/${id}`)]);
  const there = new Set(works.map(({ to }) => to));
  const others = proposals.filter(({ state, artworks }) => state !== "applied" || !artworks.some(({ kind, id }) => there.has(`works/${kind}s/${id}`)));
  const entries = [...works, ...others.map(ofProposal)].map((entry) => ({ ...entry, isNew: keys.has(entry.to) }));
  return { entries: entries.toSorted((a, b) => b.at - a.at), unseen: told.unseen };
}

/** @param {number | undefined} userId @param {AbortSignal} signal @returns {Promise<Entry[]>} the works of the author that the user is (contract R2) */
async function readWorks(userId, signal) {
  const { data: [author] } = await call("get", "/api/authors", { query: { user_id: userId, limit: 1 }, signal });
  if (!author) return [];
  const more = { path: { author_id: author.author_id }, query: { versions: true, limit: MOST }, signal };
  const [{ data: logos }, { data: themes }] = await Promise.all([call("get", "/api/authors/{author_id}/logos", more), call("get", "/api/authors/{author_id}/themes", more)]);
  return [...logos.map((logo) => ofWork("logo", logo)), ...themes.map((theme) => ofWork("theme", theme))];
}

/** @param {ArtworkKind} kind @param {any} work @returns {Entry} */
function ofWork(kind, work) {
  const id = work[`${kind}_id`];
  const { blocked } = statesOf(kind, id);
  return {
    state: blocked ? "blocked" : work.active ? "published" : "off",
    to: `works/${kind}s/${id}`,
    name: nameOf(kind, work),
    what: t(`${kind}.title`),
    picture: work.preview_url,
    at: work.changed_at ?? work.created_at,
    reason: blocked?.reason,
    ...(work.active && pageConfig.page ? { page: new URL(`gallery/${kind}s/${id}/`, ROOT).href } : {}),
    isNew: false,
  };
}

/** @param {ProposalSummary} proposal @returns {Entry} */
function ofProposal({ proposal_id: id, title, state, counts, pictures, reason, created_at: created, decided_at: decided, undone_at: undone }) {
  const kinds = Object.entries(counts);
  const isAlone = kinds.length === 1 && kinds[0]?.[1] === 1;
  return {
    state: state === "applied" ? "gone" : state,
    to: `submissions/${id}`,
    name: title,
    what: isAlone ? t(/** @type {any} */ (`${kinds[0]?.[0]}.title`)) : enumeration(kinds.map(([kind, n]) => t(/** @type {any} */ (`submission.${kind}s`), { n }))),
    picture: pictures[0],
    at: decided ?? undone ?? created,
    reason,
    ...(state === "declined" ? { again: isAlone ? `submissions/${id}/changes/0` : `submissions/${id}` } : {}),
    isNew: false,
  };
}

/** Submissions below each other, each with a picture, its subject, its state and what a reviewer looks at first. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { isOwn } from "../../proposals.js";
import { statesOf } from "../../reader_states.js";
import { enumeration, t } from "../../texts.js";
import { selectUpTo } from "../lists/selection.js";
import { NameMark } from "../people/person.js";
import { Icon, Link, rich, Time } from "../primitives/basics.js";
import { Picture } from "../primitives/picture.js";

/** @param {{proposals: ProposalSummary[], label: string, hasSubmitter?: boolean, hasState?: boolean, selection?: ListSelection, box?: (proposal: ProposalSummary) => any}} props With `selection`, each has a `box`. */
export function SubmissionList({ proposals, label, hasSubmitter = true, hasState = true, selection, box }) {
  return h("ul", { class: "box divided submissions", "aria-label": label, onKeyDown: selection && ((/** @type {KeyboardEvent} */ event) => pressed(event, proposals, selection)) },
    proposals.map((proposal) => {
      const { proposal_id: id } = proposal;
      const isChosen = selection?.ids.value.has(id);
      return h("li", { key: id, class: isChosen ? "selected" : undefined, onClickCapture: (/** @type {MouseEvent} */ event) => event.shiftKey && selection && selectUpTo(event, selection, id) },
        box?.(proposal),
        h(Row, { proposal, hasSubmitter, hasState }),
      );
    }),
  );
}

/** The arrow keys lead from one to the next, and X selects. @param {KeyboardEvent} event @param {ProposalSummary[]} proposals @param {ListSelection} selection */
function pressed(event, proposals, selection) {
  if (!(event.target instanceof HTMLAnchorElement) || event.ctrlKey || event.metaKey || event.altKey) return;
  const links = [.../** @type {HTMLElement} */ (event.currentTarget).querySelectorAll("a")];
  const at = links.indexOf(event.target);
  const idAt = (/** @type {number} */ place) => proposals[place]?.proposal_id ?? 0;
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key];
  if (event.code === "KeyX") selection.toggle(idAt(at), event.shiftKey);
  else if (!step) return;
  else if (links[at + step]) {
    selection.move(idAt(at), idAt(at + step), event.shiftKey);
    links[at + step]?.focus();
  }
  event.preventDefault();
}

/** @param {{proposal: ProposalSummary, hasSubmitter: boolean, hasState: boolean}} props */
function Row({ proposal, hasSubmitter, hasState }) {
  const { proposal_id: id, title, counts, pictures, created_at: at, reason, state } = proposal;
  const [url] = pictures;
  const blocked = blockOf(proposal);
  const kinds = enumeration(Object.entries(counts).map(([kind, n]) => t(/** @type {any} */ (`many.${kind}`), { n })));
  const time = h(Time, { seconds: at });
  const about = !hasSubmitter || isOwn(proposal) ? time : rich("submission.by", { who: h(Submitter, { of: proposal }), time });
  return h(Link, { to: `submissions/${id}`, class: "submission-row" },
    h("span", { class: "submission-picture" }, url ? h(Picture, { url, kind: Object.keys(counts)[0] ?? "" }) : null),
    h("span", { class: "submission-line" },
      h("span", { class: "stack tight submission-about" },
        h("span", { class: "submission-title", dir: "auto" }, title),
        h("span", { class: "hint" }, kinds, " · ", about),
        blocked && h("span", { class: "submission-reason", dir: "auto" }, t("work.blocked", { reason: blocked })),
        reason && state === "declined" && h("span", { class: "submission-reason", dir: "auto" }, t("submission.because", { reason })),
      ),
      h("span", { class: "cluster marks" }, state === "waiting" && h(Marks, { proposal }), hasState && h(State, { proposal })),
    ),
  );
}

/** The hosts and risks that are new, and whether the submitter is. @param {{proposal: ProposalSummary}} props */
function Marks({ proposal: { new_hosts: hosts, risks, first_work: isFirst } }) {
  const texts = [...hosts.slice(0, HOSTS), ...(hosts.length > HOSTS ? [`+${hosts.length - HOSTS}`] : []), ...risks.map((risk) => t(`mark.${risk}`))];
  return [isFirst && h(FirstWork, { key: "" }), texts.map((text) => h("bdi", { key: text, class: "tag mark" }, h(Icon, { name: "TriangleAlert" }), text))];
}

/** The most hosts that are named. */
const HOSTS = 3;

/** A submission in words: its changes, its submitter and its state. @param {ProposedChange} change @returns {string} such as "Logo · new" */
export function changeWords({ kind, before, after, block }) {
  const what = after === null ? "remove" : block ? "block" : before ? "set" : "create";
  return `${t(`${kind}.title`)} · ${t(`submission.${what}`)}`;
}

/** @param {ProposedChange} change @returns {string} the name of its record, the new one */
export const nameOfChange = ({ kind, before, after }) => nameOf(kind, after ?? before);

/** @param {ProposalSummary} proposal @returns {string[]} what its CSS contacts and risks newly, a sentence each */
export const newsOf = ({ new_hosts: hosts, risks }) => [...(hosts.length > 0 ? [t("news.contacts", { hosts: enumeration(hosts) })] : []), ...risks.map((risk) => t(`verdict.${risk}`))];

/** @param {Pick<ProposalSummary, "user_id" | "user_name">} user @returns {string} */
export const submitter = ({ user_id: id, user_name: name }) => name ?? (id === null ? t("submission.program") : t("who.removed", { id: String(id) }));

/** @param {ProposalSummary} proposal @returns {string | undefined} why a work that it created or changed is blocked */
const blockOf = ({ artworks, state }) => (state === "applied" ? artworks.map(({ kind, id }) => statesOf(kind, id).blocked?.reason).find(Boolean) : undefined);

/** The submitter, with a mark if the name is easily taken for another one. @param {{of: Pick<ProposalSummary, "user_id" | "user_name">}} props */
export const Submitter = ({ of }) => h("bdi", { class: "who" }, submitter(of), of.user_name && h(NameMark, { record: { user_id: of.user_id, username: of.user_name } }));

/** What marks a submission of somebody of whom nothing was applied yet. */
export const FirstWork = () => h("span", { class: "tag submission-waiting" }, t("submissions.first"));

/** @param {{proposal: ProposalSummary}} props */
export const State = ({ proposal }) => (blockOf(proposal) ? h("span", { class: "tag submission-declined" }, t("state.blocked")) : h("span", { class: `tag submission-${proposal.state}` }, t(`submission.${proposal.state}`)));

/** A submission in words: its changes, its submitter and its state. */
import { h } from "../../vendor/preact.js";
import { nameOf } from "../../presentation.js";
import { statesOf } from "../../reader_states.js";
import { NameMark } from "../people/name_mark.js";
import { enumeration, t } from "../../texts.js";

/** @typedef {import("../../proposals.js").ProposalSummary} ProposalSummary */
/** @typedef {import("../../proposals.js").ProposedChange} ProposedChange */

/** @param {ProposedChange} change @returns {string} such as "Logo · new" */
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
export const blockOf = ({ artworks, state }) => (state === "applied" ? artworks.map(({ kind, id }) => statesOf(kind, id).blocked?.reason).find(Boolean) : undefined);

/** The submitter, with a mark if the name is easily taken for another one. @param {{of: Pick<ProposalSummary, "user_id" | "user_name">}} props */
export const Submitter = ({ of }) => h("bdi", { class: "who" }, submitter(of), of.user_name && h(NameMark, { record: { user_id: of.user_id, username: of.user_name } }));

/** What marks a submission of somebody of whom nothing was applied yet. */
export const FirstWork = () => h("span", { class: "tag submission-waiting" }, t("submissions.first"));

/** @param {{proposal: ProposalSummary}} props */
export const State = ({ proposal }) => (blockOf(proposal) ? h("span", { class: "tag submission-declined" }, t("state.blocked")) : h("span", { class: `tag submission-${proposal.state}` }, t(`submission.${proposal.state}`)));

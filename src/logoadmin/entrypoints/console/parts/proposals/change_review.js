/** One change of a submission as its reviewer sees it: the pictures, what the CSS does newly, both previews, and the differences. */
import { h, useMemo } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { nameOf } from "../../presentation.js";
import { KINDS, listOf } from "../../records.js";
import { enumeration, t } from "../../texts.js";
import { Icon, Link, rich, Skeleton } from "../primitives/basics.js";
import { useRead } from "../primitives/hooks.js";
import { Picture } from "../primitives/picture.js";
import { listedIn, Preview } from "../css/css_preview.js";
import { OWN_HOSTS } from "../../shared_settings.js";
import { Diff } from "../diff/diff.js";
import { ChangeDiff } from "../history/change_diff.js";
import { fieldsOfChange } from "../history/changes.js";
import { NameMark } from "../people/person.js";
import { changeWords, nameOfChange } from "./submission_list.js";

/** Of these, the changes have places of their own; and the first are not for people. */
const APART = ["created_at", "preview_url", "custom_css"];

/** @param {Snapshot} record @param {boolean} [isNew] @returns {Snapshot} as the history has it, without what is shown elsewhere or goes without saying */
function rest(record, isNew = false) {
  if (!record) return null;
  const { author_ids: authors, ...others } = record;
  if (isNew && others["active"] === true) delete others["active"];
  const linked = authors ? { authors: authors.map((/** @type {number} */ id) => ({ author_id: id })) } : {};
  return Object.fromEntries(Object.entries({ ...others, ...linked }).filter(([name]) => !APART.includes(name)));
}

/** @param {ProposedChange} change @param {Snapshot} before @param {Snapshot} after @returns {any} a change as in the history */
const asChange = ({ kind, id }, before, after) => ({ kind, id, before, after });

/** @param {{change: ProposedChange, isReviewed: boolean, children?: any}} props `isReviewed`: by somebody who decides about it. `children`: what can be done with it. */
export function ChangeReview({ change, isReviewed, children }) {
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
export function Mended({ change }) {
  const whole = (/** @type {Snapshot} */ record) => record && { ...rest(record), preview_url: record["preview_url"], custom_css: record["custom_css"] };
  return h("section", { class: "stack change-review" },
    h("h2", null, t("submission.mended")),
    h("div", { class: "box panel" }, h(ChangeDiff, { change: asChange(change, whole(/** @type {Snapshot} */ (change.submitted)), whole(/** @type {Snapshot} */ (change.after))) })),
  );
}

/** What is to be seen of it. @param {{kind: "logo" | "theme", id: number | null, before: Snapshot, after: Snapshot, verdict: Verdict | null, isReviewed: boolean}} props */
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
    h("div", { key: "looks", class: "looks" },
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

/** The most works that are named. */
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

/** What the new CSS contacts and risks that the old one did not. @param {{old: Verdict | undefined, verdict: Verdict | null}} props */
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

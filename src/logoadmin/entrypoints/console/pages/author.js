/** One author, or a new one, with what they made. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { call } from "../client.js";
import { isOnPage, OnPage } from "../parts/artwork/artwork_states.js";
import { RecordHistory } from "../parts/history/change_list.js";
import { NameDoubts } from "../parts/people/person.js";
import { MenuItem } from "../parts/primitives/action_menu.js";
import { lazy, Link, Pending } from "../parts/primitives/basics.js";
import { useRead } from "../parts/primitives/hooks.js";
import { Picture } from "../parts/primitives/picture.js";
import { RecordPage } from "../parts/record/record_page.js";
import { nameOf } from "../presentation.js";
import { readStates, statesOf } from "../reader_states.js";
import { KINDS, listOf, readList } from "../records.js";
import { navigate } from "../router.js";
import { t, withTexts } from "../texts.js";

const ARTWORKS = /** @type {const} */ (["logo", "theme"]);
const MergeAuthors = lazy(withTexts(() => import("../parts/lists/author_acts.js").then((module) => module.MergeAuthors), "bulk"));

/** @param {{params: Record<string, string>}} props */
export default function Author({ params }) {
  const id = params.author_id;
  const [isMerging, setMerging] = useState(false);
  const [works, setWorks] = useState(/** @type {Partial<Record<ArtworkKind, any[]>>} */ ({}));
  useEffect(() => void readStates(), [works]);
  const begin = () => void readList("author").then(() => setMerging(true));
  const known = id !== undefined && {
    actions: (/** @type {Editing} */ editing) => h(MenuItem, { icon: "Users", scope: KINDS.author.write, idle: editing.isBusy.value, onClick: begin }, t("merge.authors.item")),
    state: (/** @type {Editing} */ editing) => isMerging && h(Merging, { author: editing.record.value, close: () => setMerging(false) }),
    // Visitors find authors by what they published.
    states: () => ARTWORKS.some((kind) => works[kind]?.some((work) => isOnPage(kind, work))) && h(OnPage, { to: `authors/${id}` }),
    beside: () => ARTWORKS.map((kind) => h(Made, { key: kind, kind, authorId: Number(id), take: (read) => setWorks((known) => ({ ...known, [kind]: read })) })),
    children: (/** @type {Records["author"]} */ author) => [
      h(NameDoubts, { key: "name", kind: "author", record: author }),
      h(RecordHistory, { key: "history", kind: "author", recordId: Number(id), since: author }),
    ],
  };
  return h(RecordPage, { kind: "author", recordId: id, list: "authors", newTitle: t("authors.new"), ...known });
}

/** @param {{author: Records["author"], close: () => void}} props */
function Merging({ author, close }) {
  const choices = (listOf("author").value.records ?? []).filter((each) => each.author_id !== author.author_id);
  return h(MergeAuthors, { authors: [author], choices, close, done: (/** @type {Records["author"]} */ into) => void navigate(`authors/${into.author_id}`) });
}

/** How many of each kind are shown here. */
const SHOWN = 12;

/**
 * What an author made: the newest logos or themes with their pictures, and a way to all of them.
 *
 * @param {{kind: ArtworkKind, authorId: number, take: (works: any[]) => void}} props `take` gets those that were read.
 */
function Made({ kind, authorId, take }) {
  // One more than is shown, to find out whether others exist.
  const query = { limit: SHOWN + 1, order: /** @type {const} */ ("desc") };
  const { data, failure, again } = useRead(
    async (signal) => /** @type {any[]} */ ((await call("get", `/api/authors/{author_id}/${kind}s`, { path: { author_id: authorId }, query, anonymous: true, signal })).data),
    [kind, authorId],
  );
  useEffect(() => data && take(data), [data]);
  const title = t(`${kind}s.title`);
  return h("section", { class: "section" },
    h("h2", null, title),
    !data && h(Pending, { failure, again }),
    data?.length === 0 && h("p", { class: "hint" }, t(`author.made.no.${kind}s`)),
    data && data.length > 0 &&
      h("ul", { class: "made", "aria-label": title }, data.slice(0, SHOWN).map((artwork) => h(One, { key: artwork[`${kind}_id`], kind, artwork }))),
    data && data.length > SHOWN && h(Link, { to: `${kind}s?author=${authorId}` }, t("filter.clear")),
  );
}

/** @param {{kind: "logo" | "theme", artwork: any}} props */
function One({ kind, artwork }) {
  const { blocked } = statesOf(kind, artwork[`${kind}_id`]);
  return h("li", null,
    h(Picture, { kind, url: artwork.preview_url }),
    h(Link, { to: `${kind}s/${artwork[`${kind}_id`]}`, dir: "auto", title: artwork.name }, nameOf(kind, artwork)),
    h("bdi", { class: "hint" }, artwork.target),
    blocked && h("span", { class: "problem", dir: "auto" }, t("work.blocked", { reason: blocked.reason })),
  );
}

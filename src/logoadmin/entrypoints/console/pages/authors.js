/** All authors, as a table. */
import { h, useMemo } from "../vendor/preact.js";
import { leaveTrail, listOf } from "../records.js";
import { nameOf, searchForm } from "../presentation.js";
import { query, setQuery } from "../router.js";
import { t, withTexts } from "../texts.js";
import { lazy, Link, NewRecord, NoRecords, Pending, ViewHead } from "../parts/primitives/basics.js";
import { useLists } from "../parts/primitives/hooks.js";
import { NameMark } from "../parts/people/person.js";
import { ManyBar, SelectBox, useSelection } from "../parts/lists/selection.js";
import { inOrder, orderChoice, Search, Toolbar } from "../parts/lists/toolbar.js";
import { Table } from "../parts/lists/table.js";

/** @typedef {Records["author"]} Author */
/** @typedef {Author & {works: number | undefined}} Counted With the number of logos and themes, once these are read. */

const ARTWORKS = /** @type {const} */ (["logo", "theme"]);
const COLUMNS = /** @type {const} */ (["name", "created_at", "changed", "works"]);
const AuthorActs = lazy(withTexts(() => import("../parts/lists/author_acts.js").then((module) => module.AuthorActs), "bulk"));

export default function Authors() {
  const { records, failure } = listOf("author").value;
  const again = useLists("author", ...ARTWORKS);
  const q = query("q");
  const works = query("works");
  const counts = useCounts();
  const fits = (/** @type {Counted} */ author) => searchForm(author.username).includes(searchForm(q)) && (!works || author.works === undefined || (works === "some") === author.works > 0);
  const choose = (/** @type {Author[]} */ all) => {
    const counted = all.map((author) => ({ ...author, works: counts && (counts.get(author.author_id) ?? 0) }));
    return inOrder(counted.filter(fits), { id: "author_id", name: "username" }, query("order"));
  };
  const found = useMemo(() => records && choose(records), [records, counts, q, works, query("order")]);
  leaveTrail("author", found);
  const selection = useSelection("author_id", found);
  return h("div", { class: "view" },
    h(ViewHead, { title: t("authors.title") }, h(NewRecord, { kind: "author" })),
    h(Toolbar, {
      search: h(Search, { value: q, label: t("authors.search"), search: (text) => setQuery({ q: text }) }),
      filters: !counts ? [] : [{ label: t("authors.works"), value: works, choices: [["", t("filter.any")], ["some", t("authors.works.some")], ["none", t("authors.works.none")]], pick: (chosen) => setQuery({ works: chosen }) }],
      order: orderChoice(counts && COLUMNS),
    }),
    h(ManyBar, { kind: "author", artworks: found, selection, acts: AuthorActs }),
    !records && h(Pending, { failure, again }),
    found?.length === 0 && h(NoRecords, { kind: "author", icon: "Brush", clear: records?.length ? () => setQuery({ q: "", works: "" }) : undefined }),
    found && found.length > 0 &&
      h(Table, {
        records: found,
        id: (/** @type {Author} */ author) => author.author_id,
        label: t("authors.title"),
        selection,
        columns: [
          { name: "username", title: t("field.username"), sort: "name", cell: (/** @type {Author} */ author) => h(Name, { author, selection }) },
          ...(counts ? [/** @type {import("../parts/lists/table.js").Column} */ ({ name: "works", title: t("authors.works"), type: "number", sort: "works" })] : []),
          { name: "user_id", title: t("field.user_id"), type: "number" },
          { name: "created_at", title: t("field.created_at"), sort: "created_at" },
          { name: "changed_at", title: t("field.changed"), sort: "changed" },
        ],
      }),
  );
}

/** @param {{author: Author, selection: ListSelection}} props */
const Name = ({ author, selection }) =>
  h("span", { class: "cell-selectable" },
    h(SelectBox, { selection, id: author.author_id, name: nameOf("author", author) }),
    h(Link, { to: `authors/${author.author_id}`, class: "cell-link", dir: "auto", title: author.username }, nameOf("author", author)),
    h(NameMark, { kind: "author", record: author }),
  );

/** @returns {Map<number, number> | undefined} the works of each author who has any; none before all are read, nor for more than a list reads at once */
function useCounts() {
  const lists = ARTWORKS.map((kind) => listOf(kind).value.records);
  return useMemo(() => {
    if (!lists.every((records) => records)) return undefined;
    /** @type {Map<number, number>} */
    const counts = new Map();
    for (const { authors } of lists.flatMap((records) => /** @type {any[]} */ (records))) {
      for (const { author_id: id } of authors) counts.set(id, (counts.get(id) ?? 0) + 1);
    }
    return counts;
  }, lists);
}

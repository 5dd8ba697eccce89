/** All authors, as a table. */
import { h, useEffect } from "../vendor/preact.js";
import { KINDS, abandonReads, listOf, readList } from "../records.js";
import { returned } from "../client.js";
import { nameOf } from "../presentation.js";
import { navigate, query, setQuery } from "../router.js";
import { t } from "../texts.js";
import { leaveTrail } from "../trail.js";
import { Begin, Button, EmptyState, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { ExportButton } from "../parts/lists/export_button.js";
import { inOrder, orderChoice } from "../parts/lists/order.js";
import { Search, Toolbar } from "../parts/lists/toolbar.js";
import { Table } from "../parts/lists/table.js";

/** @typedef {import("../records.js").Records["author"]} Author */

export default function Authors() {
  const { records, failure } = listOf("author").value;
  const again = () => void readList("author");
  const afresh = () => {
    abandonReads("author");
    again();
  };
  useEffect(again, [returned.value]);
  const q = query("q");
  const fits = (/** @type {Author} */ author) => author.username.toLowerCase().includes(q.toLowerCase());
  const choose = (/** @type {Author[]} */ all) => inOrder(all.filter(fits), { id: "author_id", name: "username" }, query("order"));
  const found = records && choose(records);
  leaveTrail("author", found);
  return h(
    "div",
    { class: "view" },
    h(
      ViewHead,
      { title: t("authors.title") },
      h(ExportButton, { kind: "author", choose, count: found?.length }),
      h(Button, { tone: "primary", icon: "Plus", scope: KINDS.author.write, onClick: () => void navigate("authors/new") }, t("authors.new")),
    ),
    h(
      Toolbar,
      { search: h(Search, { value: q, label: t("authors.search"), search: (text) => setQuery({ q: text }) }), order: orderChoice() },
      h("span", { class: "found", role: "status" }, found && t("found", { n: found.length })),
    ),
    failure && !records && h(Unread, { failure, again: afresh }),
    !records && !failure && h(Skeleton, {}),
    found?.length === 0 && h(Nothing, { any: records?.length !== 0 }),
    found && found.length > 0 &&
      h(Table, {
        records: found,
        id: (/** @type {Author} */ author) => author.author_id,
        label: t("authors.title"),
        to: (/** @type {Author} */ author) => `authors/${author.author_id}`,
        columns: [
          { name: "username", title: t("field.username"), sort: "name", cell: (/** @type {Author} */ author) => h("bdi", null, nameOf("author", author)) },
          { name: "user_id", title: t("field.user_id"), type: "number" },
          { name: "created_at", title: t("field.created_at"), sort: "created_at" },
          { name: "changed_at", title: t("field.changed"), sort: "changed" },
        ],
      }),
  );
}

/** @param {{any: boolean}} props */
function Nothing({ any }) {
  return h(
    EmptyState,
    { icon: any ? "SearchX" : "Brush", title: t(any ? "authors.none.found" : "authors.none") },
    any ? h(Button, { onClick: () => setQuery({ q: "" }) }, t("filter.clear")) : h(Begin, { scope: KINDS.author.write }, t("authors.none.begin")),
  );
}

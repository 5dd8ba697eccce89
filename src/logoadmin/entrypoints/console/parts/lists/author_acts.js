/** What can be done with the selected authors: merged into one of them, or removed. */
import { h, useState } from "../../vendor/preact.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { askWhy } from "../primitives/why.js";
import { ACTIONS, doMany } from "./bulk_actions.js";
import { named } from "./list_sync.js";
import { MergeAuthors } from "./merge_authors.js";

/** @param {{chosen: any[], selection: import("./selection.js").Selection}} props */
export function AuthorActs({ chosen, selection }) {
  const [isMerging, setMerging] = useState(false);
  const { write } = KINDS.author;
  const remove = async () => {
    const title = t("bulk.remove.authors", { n: chosen.length });
    const text = t("bulk.remove.authors.text", { names: named("author", chosen) });
    const note = await askWhy({ title, text, yes: t("remove"), no: t("cancel"), tone: "danger" });
    if (note !== undefined) void doMany("author", { ...ACTIONS.remove, note }, chosen, selection);
  };
  return [
    h(Button, { key: "merge", icon: "Users", scope: write, reason: chosen.length < 2 ? t("merge.authors.one") : undefined, onClick: () => setMerging(true) }, t("merge.authors")),
    h(Button, { key: "remove", icon: "Trash", scope: write, tone: "danger", onClick: () => void remove() }, t("remove")),
    h(Button, { key: "none", icon: "X", tone: "quiet", onClick: () => selection.set([]) }, t("bulk.none")),
    isMerging && h(MergeAuthors, { key: "dialog", authors: chosen, choices: chosen, close: () => setMerging(false), done: () => selection.set([]) }),
  ];
}

/** One author, or a new one, with what they made. */
import { h, useState } from "../vendor/preact.js";
import { MadeBy } from "../parts/artwork/made_by.js";
import { RecordHistory } from "../parts/history/record_history.js";
import { RecordPage } from "../parts/record/record_page.js";
import { NameDoubts } from "../parts/people/name_mark.js";
import { lazy } from "../parts/primitives/lazy.js";
import { MenuItem } from "../parts/primitives/action_menu.js";
import { KINDS, listOf, readList } from "../records.js";
import { navigate } from "../router.js";
import { t, withTexts } from "../texts.js";

const MergeAuthors = lazy(withTexts(() => import("../parts/lists/merge_authors.js").then((module) => module.MergeAuthors)));

/** @param {{params: Record<string, string>}} props */
export default function Author({ params }) {
  const id = params.author_id;
  const [isMerging, setMerging] = useState(false);
  const begin = () => void readList("author").then(() => setMerging(true));
  const known = id !== undefined && {
    actions: (/** @type {import("../parts/record/editing.js").Editing} */ editing) => h(MenuItem, { icon: "Users", scope: KINDS.author.write, idle: editing.isBusy.value, onClick: begin }, t("merge.authors.item")),
    state: (/** @type {import("../parts/record/editing.js").Editing} */ editing) => isMerging && h(Merging, { author: editing.record.value, close: () => setMerging(false) }),
    beside: () => h(MadeBy, { authorId: Number(id) }),
    children: (/** @type {import("../records.js").Records["author"]} */ author) => [
      h(NameDoubts, { key: "name", kind: "author", record: author }),
      h(RecordHistory, { key: "history", kind: "author", recordId: Number(id), since: author }),
    ],
  };
  return h(RecordPage, { kind: "author", recordId: id, list: "authors", newTitle: t("authors.new"), ...known });
}

/** @param {{author: import("../records.js").Records["author"], close: () => void}} props */
function Merging({ author, close }) {
  const choices = (listOf("author").value.records ?? []).filter((each) => each.author_id !== author.author_id);
  return h(MergeAuthors, { authors: [author], choices, close, done: (/** @type {import("../records.js").Records["author"]} */ into) => void navigate(`authors/${into.author_id}`) });
}

/** One author, or a new one, with what they made. */
import { h } from "../vendor/preact.js";
import { MadeBy } from "../parts/artwork/made_by.js";
import { RecordHistory } from "../parts/history/record_history.js";
import { RecordPage } from "../parts/record/record_page.js";
import { t } from "../texts.js";

/** @param {{params: Record<string, string>}} props */
export default function Author({ params }) {
  const id = params.author_id;
  const known = id !== undefined && {
    beside: () => h(MadeBy, { authorId: Number(id) }),
    children: (/** @type {import("../records.js").Records["author"]} */ author) => h(RecordHistory, { kind: "author", recordId: Number(id), since: author }),
  };
  return h(RecordPage, { kind: "author", recordId: id, list: "authors", newTitle: t("authors.new"), ...known });
}

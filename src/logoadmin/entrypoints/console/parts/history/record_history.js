/** The history of one record, newest first: each version is seen against what the record is now, and restored. */
import { h, useState } from "../../vendor/preact.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { lazy, Link, Skeleton } from "../primitives/basics.js";
import { usePages } from "../primitives/pages.js";
import { Disclosure } from "./change_list.js";
import { read } from "./changes.js";
import { Words } from "./words.js";

const SIZE = 8;
const AgainstNow = lazy(() => import("./change_diff.js").then((module) => module.AgainstNow), () => h(Skeleton, {}));

/** @param {{kind: KindName, recordId: number, since: unknown}} props Read again when `since` differs. */
export function RecordHistory({ kind, recordId, since }) {
  const isAllowed = may("changes:read");
  const { records: changes, more, unread } = usePages(
    /** @returns {Promise<{data: Change[], next: string}>} */
    async (/** @type {Change | undefined} */ last, signal) => (isAllowed ? read({ kind, id: recordId, order: "desc", limit: SIZE, ...(last && { after: last.change_id }) }, signal) : { data: [], next: "" }),
    [kind, recordId, isAllowed, since],
  );
  const [now] = changes ?? [];
  return h("section", { class: "stack loose section record-history" },
    h("h2", null, t("history.title")),
    !isAllowed && h("p", { class: "hint" }, t("record.history.needs")),
    !changes && !unread && h(Skeleton, {}),
    isAllowed && changes && !now && h("p", { class: "hint" }, t("record.history.none")),
    now && h("ol", { class: "box divided changes", "aria-label": t("history.title") }, changes?.map((change) => h("li", { key: change.change_id, class: "change" }, h(Version, { kind, change, now })))),
    unread,
    h("div", { class: "cluster form-actions" },
      more,
      now && h(Link, { to: `history?kind=${kind}&id=${recordId}` }, t("record.history.all")),
    ),
  );
}

/** @param {{kind: KindName, change: Change, now: Change}} props The change that made the version, and the last one. */
function Version({ kind, change, now }) {
  const [open, setOpen] = useState(false);
  return h("article", { class: "change-item" },
    h(Disclosure, { open, setOpen, summary: h(Words, { change }), seconds: change.at }, h(AgainstNow, { key: now.change_id, kind, change, now })),
  );
}

/** The history of one record, newest first: each version is seen against what the record is now, and restored. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Button, lazy, Link, Skeleton, Unread } from "../primitives/basics.js";
import { Disclosure } from "./change_list.js";
import { read } from "./changes.js";
import { Words } from "./words.js";

const SIZE = 8;
const AgainstNow = lazy(() => import("./change_diff.js").then((module) => module.AgainstNow), () => h(Skeleton, {}));

/** @param {{kind: KindName, recordId: number, since: unknown}} props Read again when `since` differs. */
export function RecordHistory({ kind, recordId, since }) {
  const [changes, setChanges] = useState(/** @type {Change[] | undefined} */ (undefined));
  const [hasMore, setMore] = useState(false);
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const asked = useRef(0);
  const isAllowed = may("changes:read");
  /** @param {Change[]} before */
  const load = async (before) => {
    const asking = (asked.current += 1);
    const after = before.at(-1)?.change_id;
    try {
      const { data, next } = await read({ kind, id: recordId, order: "desc", limit: SIZE, ...(after ? { after } : {}) });
      // A newer request has started meanwhile.
      if (asking !== asked.current) return;
      setChanges([...before, ...data]);
      setMore(next !== "");
      setFailure(undefined);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (asking === asked.current) setFailure(error);
    }
  };
  useEffect(() => {
    if (isAllowed) void load([]);
  }, [kind, recordId, isAllowed, returned.value, since]);
  const [now] = changes ?? [];
  return h("section", { class: "stack loose section record-history" },
    h("h2", null, t("history.title")),
    !isAllowed && h("p", { class: "hint" }, t("record.history.needs")),
    isAllowed && !changes && !failure && h(Skeleton, {}),
    failure && !changes && h(Unread, { failure, again: () => void load([]) }),
    changes && !now && h("p", { class: "hint" }, t("record.history.none")),
    now && h("ol", { class: "box divided changes", "aria-label": t("history.title") }, changes?.map((change) => h("li", { key: change.change_id, class: "change" }, h(Version, { kind, change, now })))),
    h("div", { class: "cluster form-actions" },
      hasMore && h(Button, { onClick: () => void load(changes ?? []) }, t("record.history.more")),
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

/** The history of one record, newest first. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { readPage } from "./changes.js";
import { Failure, returned } from "../../client.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Button, Link, Skeleton, Unread } from "../primitives/basics.js";
import { lazy } from "../primitives/lazy.js";
import { ChangeList } from "./change_list.js";

const SIZE = 8;
const Compare = lazy(() => import("./compare.js").then((part) => part.Compare));

/** @param {{kind: import("../../records.js").KindName, recordId: number, since: unknown}} props Read again when `since` differs. */
export function RecordHistory({ kind, recordId, since }) {
  const [groups, setGroups] = useState(/** @type {import("./changes.js").Group[] | undefined} */ (undefined));
  const [after, setAfter] = useState(0);
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const [isComparing, setComparing] = useState(false);
  const asked = useRef(0);
  const isAllowed = may("changes:read");
  /** @param {number} from */
  const load = async (from) => {
    asked.current += 1;
    const asking = asked.current;
    try {
      const page = await readPage({ kind, id: recordId }, from, { size: SIZE });
      // A newer request has started meanwhile.
      if (asking !== asked.current) return;
      setGroups((known) => (from ? [...(known ?? []), ...page.groups] : page.groups));
      setAfter(page.after);
      setFailure(undefined);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (asking === asked.current) setFailure(error);
    }
  };
  useEffect(() => {
    if (isAllowed) void load(0);
  }, [kind, recordId, isAllowed, returned.value, since]);
  return h(
    "section",
    { class: "stack loose section record-history" },
    h("h2", null, t("record.history")),
    !isAllowed && h("p", { class: "hint" }, t("record.history.needs")),
    isAllowed && !groups && !failure && h(Skeleton, {}),
    failure && !groups && h(Unread, { failure, again: () => void load(0) }),
    groups?.length === 0 && h("p", { class: "hint" }, t("record.history.none")),
    groups && groups.length > 0 && h(ChangeList, { groups, label: t("record.history"), undone: () => void (returned.value += 1) }),
    h(
      "div",
      { class: "cluster form-actions" },
      after > 0 && h(Button, { onClick: () => void load(after) }, t("record.history.more")),
      groups && groups.length > 0 && h(Button, { icon: "GitCompareArrows", onClick: () => setComparing(true) }, t("compare.open")),
      groups && groups.length > 0 && h(Link, { to: `history?kind=${kind}&id=${recordId}`, class: "button quiet" }, t("record.history.all")),
    ),
    isComparing && h(Compare, { kind, recordId, close: () => setComparing(false) }),
  );
}

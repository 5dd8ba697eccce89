/** One change: what it did, and undoing it. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { Failure, returned } from "../client.js";
import { readChange } from "../parts/history/changes.js";
import { readList } from "../records.js";
import { may } from "../session.js";
import { t } from "../texts.js";
import { EmptyState, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Breadcrumbs } from "../parts/primitives/breadcrumbs.js";
import { Item } from "../parts/history/change_list.js";

/** @param {{params: Record<string, string>}} props */
export default function ChangePage({ params }) {
  const changeId = Number(params.change_id);
  const [read, setRead] = useState(/** @type {{change: import("../parts/history/changes.js").Change | undefined} | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const load = async () => {
    try {
      setRead({ change: changeId > 0 ? await readChange(changeId) : undefined });
      setFailure(undefined);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
  };
  useEffect(() => {
    void load();
    void readList("author");
    if (may("roles:read")) void readList("role");
  }, [changeId, returned.value]);
  const title = t("history.change", { id: String(changeId) });
  if (!read) return failure ? h(Unread, { failure, again: () => void load() }) : h(Skeleton, {});
  return h(
    "div",
    { class: "view" },
    h(Breadcrumbs, { list: "history", title: t("history.title"), name: title }),
    h(ViewHead, { title }),
    read.change
      ? h("div", { class: "box divided changes" }, h("div", { class: "change" }, h(Item, { change: read.change, undone: () => undefined, isOpen: true })))
      : h(EmptyState, { icon: "SearchX", title: t("history.missing") }),
  );
}

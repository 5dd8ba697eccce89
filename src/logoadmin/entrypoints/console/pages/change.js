/** One change: what it did, and undoing it. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { Failure, returned } from "../client.js";
import { readAct, readChange, readLatest } from "../parts/history/changes.js";
import { readList } from "../records.js";
import { may } from "../session.js";
import { t } from "../texts.js";
import { EmptyState, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Breadcrumbs } from "../parts/primitives/breadcrumbs.js";
import { Item } from "../parts/history/change_list.js";

/** @typedef {import("../parts/history/changes.js").Change} Change */

/** @param {{params: Record<string, string>}} props */
export default function ChangePage({ params }) {
  const changeId = Number(params.change_id);
  const [read, setRead] = useState(/** @type {{change: Change | undefined, known: Change[], whole: number} | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const load = async () => {
    try {
      const change = changeId > 0 ? await readChange(changeId) : undefined;
      const known = change ? await readLatest(change) : [];
      // One of many, if it came with a request for many.
      const whole = change?.origin && change.request_id ? ((await readAct(change.request_id))?.count ?? 1) : 1;
      setRead({ change, known, whole });
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
  return h("div", { class: "view" },
    h(Breadcrumbs, { list: "history", title: t("history.title"), name: title }),
    h(ViewHead, { title }),
    read.change
      ? h("div", { class: "box divided changes" }, h("div", { class: "change" }, h(Item, { change: read.change, known: read.known, undone: () => void load(), isOpen: true, whole: read.whole })))
      : h(EmptyState, { icon: "SearchX", title: t("history.missing") }),
  );
}

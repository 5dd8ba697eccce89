/** What happened, newest first; filtered by what stands in the address, and undone. */
import { h, useEffect, useRef, useState } from "../vendor/preact.js";
import { Failure, returned } from "../client.js";
import { ChangeList, Item, UndoAct } from "../parts/history/change_list.js";
import { PAGE, readAct, readChange, readLatest, readPage } from "../parts/history/changes.js";
import { chosenFilters, HistoryFilters, isFiltered } from "../parts/history/history_filters.js";
import { Breadcrumbs, EmptyState, Pending, Unread, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRead } from "../parts/primitives/hooks.js";
import { ReadOn } from "../parts/primitives/pages.js";
import { t } from "../texts.js";

/** @typedef {import("../parts/history/changes.js").Entry} Entry */
/** @typedef {import("../parts/history/changes.js").Page} Page */

/** The most entries that are read again at once. */
const MOST = 1000;

/** The pages that were read so far, one below the other. @param {import("../parts/history/changes.js").Filters} filters */
function usePages(filters) {
  const key = JSON.stringify(filters);
  const [read, setRead] = useState(/** @type {(Page & {key: string}) | undefined} */ (undefined));
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const [busy, setBusy] = useState(false);
  const stop = useRef(new AbortController());

  const known = read?.key === key ? read : undefined;
  /** @param {number} [after] The page that follows this change; without it, the whole list is read again. */
  const load = async (after = 0) => {
    stop.current.abort();
    const { signal } = (stop.current = new AbortController());
    setBusy(true);
    try {
      const page = await readPage(filters, after, { signal, ...(!after && known && { size: Math.min(Math.max(PAGE, known.entries.length), MOST) }) });
      setRead({ ...page, entries: after && known ? [...known.entries, ...page.entries] : page.entries, key });
      setFailure(undefined);
    } catch (error) {
      if (signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      setFailure(error);
    }
    if (!signal.aborted) setBusy(false);
  };

  useEffect(() => {
    void load();
    return () => stop.current.abort();
  }, [key, returned.value]);
  return { entries: known?.entries ?? (failure ? undefined : read?.entries), isStale: !known, after: known?.after ?? 0, failure, busy, load };
}

/** @param {{params: Record<string, string>}} props */
export default ({ params }) => (params.change_id ? h(ChangePage, { params }) : h(History, {}));

function History() {
  const filters = chosenFilters();
  const { entries, isStale, after, failure, busy, load } = usePages(filters);
  useLists("author", "role", "user");
  const again = () => void load();
  const act = useAct(filters.request_id === undefined ? undefined : String(filters.request_id), entries);
  return h("div", { class: "view" },
    h(ViewHead, { title: t("history.title") }, act && h(UndoAct, { act, undone: again })),
    h(HistoryFilters, { entries: entries ?? [] }),
    !entries && h(Pending, { failure, again }),
    entries?.length === 0 && !isStale && h(Nothing, {}),
    entries && entries.length > 0 && h("div", { class: isStale ? "stale" : "", "aria-busy": isStale }, h(ChangeList, { entries, undone: again, label: t("history.title"), days: true, act })),
    failure && entries && h(Unread, { failure, again: () => void load(after) }),
    after > 0 && !isStale && !failure && h(ReadOn, { key: after, busy, more: () => void load(after) }, t(busy ? "loading" : "history.older")),
  );
}

/** @param {string | undefined} request @param {Entry[] | undefined} entries Read again with these. @returns {Act | undefined} what it did */
function useAct(request, entries) {
  const { data: act } = useRead(async (signal) => (request && entries ? readAct(request, signal) : undefined), [request, entries]);
  return act?.request_id === request ? act : undefined;
}

function Nothing() {
  return isFiltered() ? h(EmptyState, { icon: "SearchX", title: t("none.found") }, h("p", null, t("history.none.try"))) : h(EmptyState, { icon: "History", title: t("history.none") });
}

/** One change: what it did, and undoing it. @param {{params: Record<string, string>}} props */
function ChangePage({ params }) {
  const changeId = Number(params.change_id);
  const { data: read, failure, again } = useRead(async (signal) => {
    const change = changeId > 0 ? await readChange(changeId, signal) : undefined;
    const known = change ? await readLatest(change, signal) : [];
    // One of many, if it came with a request for many.
    const whole = change?.origin && change.request_id ? ((await readAct(change.request_id, signal))?.count ?? 1) : 1;
    return { change, known, whole };
  }, [changeId]);
  useLists("author", "role");
  const title = t("history.change", { id: String(changeId) });
  if (!read) return h(Pending, { failure, again });
  return h("div", { class: "view" },
    h(Breadcrumbs, { list: "history", title: t("history.title"), name: title }),
    h(ViewHead, { title }),
    read.change
      ? h("div", { class: "box divided changes" }, h("div", { class: "change" }, h(Item, { change: read.change, known: read.known, undone: () => void again(), isOpen: true, whole: read.whole })))
      : h(EmptyState, { icon: "SearchX", title: t("history.missing") }),
  );
}

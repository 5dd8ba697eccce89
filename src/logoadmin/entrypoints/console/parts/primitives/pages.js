/** What a view reads page by page, or one by one. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { returned } from "../../client.js";
import { t } from "../../texts.js";
import { Button, IconButton, Unread } from "./basics.js";
import { useEvents, useRead } from "./hooks.js";

/** @typedef {"previous" | "next"} Which */

/** The ways to the previous and the next one of several, and the place among them. @param {{place: number | undefined, all: number | undefined, ways: {[W in Which]?: any} | undefined, go: (to: any) => void}} props `place` is counted from 0; `ways` are undefined until they are known. */
export function Ways({ place, all = 0, ways, go }) {
  const button = (/** @type {Which} */ which) => {
    const to = ways?.[which];
    const isMissing = to === undefined;
    return h(IconButton, { icon: which === "next" ? "ChevronRight" : "ChevronLeft", label: t(isMissing && ways ? `neighbour.${which}.none` : `neighbour.${which}`), "aria-disabled": isMissing, "aria-keyshortcuts": which === "next" ? "J" : "K", onClick: () => isMissing || go(to) });
  };
  return h("div", { class: "cluster neighbours" }, place !== undefined && h("span", { class: "hint" }, t("neighbour.place", { at: place + 1, all })), button("previous"), button("next"));
}

/** How close to the end of a list, in pixels, its next page is read. */
const NEAR = 1500;

/** Reads on when one comes near it, and on a click, but not while it is `busy`. @param {{more: () => void, busy?: boolean, children?: any, key?: any}} props */
export function ReadOn({ more, busy = false, children }) {
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const latest = useRef(more);
  latest.current = () => void (busy || more());
  useEvents(window, "scroll", () => element.current && element.current.getBoundingClientRect().top < innerHeight + NEAR && latest.current());
  return h("div", { ref: element, class: "cluster list-more" }, h(Button, { busy, onClick: more }, children));
}

/**
 * As `useRead`, page by page, from the first one on whenever an input changes.
 *
 * @template T
 * @param {(last: T | undefined, signal: AbortSignal) => Promise<{data: T[], next: string}>} read What follows the last one.
 * @param {readonly unknown[]} [inputs]
 */
export function usePages(read, inputs = []) {
  const [before, setBefore] = useState(/** @type {T[]} */ ([]));
  useEffect(() => setBefore((known) => (known.length > 0 ? [] : known)), [returned.value, ...inputs]);
  const { data, failure, again } = useRead(async (signal) => {
    const page = await read(before.at(-1), signal);
    return { records: [...before, ...page.data], hasMore: page.next !== "" };
  }, [before, ...inputs]);
  const more = data?.hasMore && h(Button, { onClick: () => setBefore(data.records) }, t("list.more"));
  /** Read on without a record that was removed. @param {T} gone */
  const forget = (gone) => setBefore((known) => known.filter((each) => each !== gone));
  return { records: data?.records, more, unread: failure && h(Unread, { failure, again: () => void again() }), forget };
}

/** Sections in one column, with a rail that names them and marks the current section. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { useEvents } from "./hooks.js";

/** The part of the window that decides which section is current. */
const READ = "-15% 0px -70%";
/** What moves the page by hand. A section that was asked for stays marked until then: the last ones cannot reach the top. */
const BY_HAND = "wheel touchmove keydown pointerdown";

/** @param {{children?: any}} props Sections, each of which begins with an `h2`; they may appear later. */
export function Railed({ children }) {
  const column = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [titles, setTitles] = useState(/** @type {string[]} */ ([]));
  const [current, setCurrent] = useState(0);
  const isHeld = useRef(false);
  useEvents(window, BY_HAND, () => (isHeld.current = false));
  useEffect(() => (column.current ? watched(column.current, setTitles, (at) => isHeld.current || setCurrent(at)) : undefined), []);
  /** @param {number} at */
  const goTo = (at) => {
    const heading = column.current && headings(column.current)[at];
    if (!heading) return;
    isHeld.current = true;
    setCurrent(at);
    heading.tabIndex = -1;
    heading.focus({ preventScroll: true });
    heading.closest(".section")?.scrollIntoView();
  };
  const isRailed = titles.length > 1;
  return h("div", { class: isRailed ? "railed has-rail" : "railed" },
    isRailed && h(Rail, { titles, current, goTo }),
    h("div", { ref: column, class: "railed-column" }, children),
  );
}

/** @param {{titles: string[], current: number, goTo: (at: number) => void}} props */
const Rail = ({ titles, current, goTo }) =>
  h("nav", { class: "rail", "aria-label": t("rail.label") },
    h("ul", null,
      titles.map((title, at) =>
        h("li", { key: at }, h("button", { type: "button", class: "rail-link", dir: "auto", "aria-current": at === current ? "location" : undefined, onClick: () => goTo(at) }, title)),
      ),
    ),
  );

/** @param {Element} column */
const headings = (column) => /** @type {HTMLElement[]} */ ([...column.querySelectorAll(".section > h2:first-of-type")]);

/**
 * Keep the titles, and which of them is read, until the returned function is called.
 *
 * @param {Element} column @param {(titles: string[]) => void} setTitles @param {(at: number) => unknown} setCurrent
 */
function watched(column, setTitles, setCurrent) {
  const read = new Set();
  const seen = new IntersectionObserver(
    (entries) => {
      for (const { target, isIntersecting } of entries) read[isIntersecting ? "add" : "delete"](target);
      const at = headings(column).findIndex((heading) => read.has(heading.closest(".section")));
      if (at >= 0) setCurrent(at);
    },
    { rootMargin: READ },
  );
  const look = () => {
    setTitles(headings(column).map((heading) => heading.textContent));
    seen.disconnect();
    read.clear();
    for (const heading of headings(column)) seen.observe(/** @type {Element} */ (heading.closest(".section")));
  };
  const changes = new MutationObserver(look);
  changes.observe(column, { childList: true, subtree: true, characterData: true });
  look();
  return () => {
    changes.disconnect();
    seen.disconnect();
  };
}

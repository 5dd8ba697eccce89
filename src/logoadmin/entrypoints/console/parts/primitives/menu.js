/** A button that unfolds a box below it, which is rendered only then; Escape, and whatever happens elsewhere, folds it again. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./basics.js";

/** @param {{label: string, icon: IconName, children?: any}} props A button in it folds it. */
export function Menu({ label, icon, children }) {
  const element = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const fold = () => void (element.current && (element.current.open = false));
  useEffect(() => {
    const elsewhere = (/** @type {Event} */ event) => {
      if (!(event.target instanceof Node && element.current?.contains(event.target))) fold();
    };
    addEventListener("pointerdown", elsewhere);
    addEventListener("focusin", elsewhere);
    return () => {
      removeEventListener("pointerdown", elsewhere);
      removeEventListener("focusin", elsewhere);
    };
  }, []);
  return h(
    "details",
    {
      ref: element,
      class: "menu",
      onToggle: () => setOpen(element.current?.open ?? false),
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (event.key !== "Escape" || !element.current?.open) return;
        event.preventDefault();
        fold();
        element.current.querySelector("summary")?.focus();
      },
      onClick: (/** @type {MouseEvent} */ event) => {
        if (event.target instanceof Element && event.target.closest(".menu-box button")) fold();
      },
    },
    h("summary", { class: "button plain" }, h(Icon, { name: icon }), h("span", null, label)),
    isOpen && h("div", { class: "box menu-box" }, children),
  );
}

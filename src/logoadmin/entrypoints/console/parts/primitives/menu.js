/** A button that unfolds a box below it, which is rendered only then; Escape, and whatever happens elsewhere, folds it again. */
import { h, useRef, useState } from "../../vendor/preact.js";
import { Icon } from "./basics.js";
import { useEvents } from "./hooks.js";

/** @param {{label: any, icon?: IconName, look?: string, children?: any}} props A button or a link in it folds it. */
export function Menu({ label, icon, look = "menu", children }) {
  const element = useRef(/** @type {HTMLDetailsElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const fold = () => void (element.current && (element.current.open = false));
  useEvents(window, "pointerdown focusin", ({ target }) => (target instanceof Node && element.current?.contains(target)) || fold());
  return h(
    "details",
    {
      ref: element,
      class: look,
      onToggle: () => setOpen(element.current?.open ?? false),
      onKeyDown: (event) => {
        if (event.key !== "Escape" || !element.current?.open) return;
        event.preventDefault();
        fold();
        element.current.querySelector("summary")?.focus();
      },
      onClick: (event) => {
        if (!(event.target instanceof Element) || !event.target.closest(`.${look}-box :is(a, button)`)) return;
        // A dialog returns the focus to what had it, which must not be gone by then.
        element.current?.querySelector("summary")?.focus();
        fold();
      },
    },
    h("summary", { class: icon && "button plain" }, icon && h(Icon, { name: icon }), h("span", null, label)),
    isOpen && h("div", { class: `box ${look}-box` }, children),
  );
}

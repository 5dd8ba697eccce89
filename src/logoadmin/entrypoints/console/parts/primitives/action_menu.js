/** The rarer actions of a view behind one button; they are in the page while it is closed, so that their keys work. */
import { h, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { Button, Icon } from "./basics.js";

/** @type {Record<string, (at: number, count: number) => number>} Where a key leads among the actions. */
const STEPS = {
  ArrowDown: (at, count) => (at + 1) % count,
  ArrowUp: (at, count) => (at <= 0 ? count : at) - 1,
  Home: () => 0,
  End: (_, count) => count - 1,
};

/** @param {{label: string, children?: any}} props Its children are `MenuItem`s. */
export function ActionMenu({ label, children }) {
  const id = useId();
  const element = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [isOpen, setOpen] = useState(false);
  const items = () => /** @type {HTMLElement[]} */ ([...(element.current?.querySelectorAll("[role=menuitem]") ?? [])]);
  useLayoutEffect(() => {
    if (isOpen) items()[0]?.focus();
  }, [isOpen]);
  const close = () => {
    setOpen(false);
    element.current?.querySelector("button")?.focus();
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    const step = STEPS[event.key];
    if (event.key === "Escape" && isOpen) close();
    else if (event.key === "ArrowDown" && !isOpen) setOpen(true);
    else if (step && isOpen) {
      const all = items();
      all[step(all.findIndex((each) => each === document.activeElement), all.length)]?.focus();
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const leave = (/** @type {FocusEvent} */ event) => {
    if (!(event.relatedTarget instanceof Node && element.current?.contains(event.relatedTarget))) setOpen(false);
  };
  return h("div", { ref: element, class: "action-menu", onKeyDown: pressed, onFocusOut: leave },
    h(
      "button",
      { type: "button", class: "button plain icon-button", "aria-label": label, title: label, "aria-haspopup": "menu", "aria-expanded": isOpen, "aria-controls": id, onClick: () => setOpen(!isOpen) },
      h(Icon, { name: "Ellipsis" }),
    ),
    // A shortcut presses an item of the closed menu, and leaves the focus where it is.
    h("div", { id, class: "box action-menu-box", role: "menu", "aria-label": label, hidden: !isOpen, onClick: () => isOpen && close() }, children),
  );
}

/** An action of the menu; a disabled one says why. @param {Omit<import("./basics.js").ButtonProps, "role">} props */
export const MenuItem = ({ children, ...props }) =>
  h(Button, { tone: "quiet", ...props, role: "menuitem" }, h("span", null, children), props.shortcut && h("kbd", { "aria-hidden": true }, props.shortcut.replace("Control", "Ctrl")));

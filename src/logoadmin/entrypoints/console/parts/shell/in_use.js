/** What the shell needs as soon as somebody uses the page: the focus is kept, and Ctrl+Z undoes. */
import { undoLast } from "../../notices.js";
import { isTyping } from "../../typing.js";
import { keepFocus } from "./focus_keeper.js";

let hasBegun = false;

/** @param {EventTarget[]} way the path of the first event */
export function begin(way) {
  if (!hasBegun) keepFocus(way);
  hasBegun = true;
}

addEventListener("keydown", (event) => {
  if (event.defaultPrevented || !isUndo(event) || isTyping(event) || document.querySelector("dialog[open]")) return;
  if (undoLast()) event.preventDefault();
});

/** @param {KeyboardEvent} event @returns {boolean} whether it is Ctrl+Z: the letter, or its place where the keyboard has other letters */
function isUndo({ ctrlKey, metaKey, shiftKey, altKey, repeat, key, code }) {
  if (!(ctrlKey || metaKey) || shiftKey || altKey || repeat) return false;
  return /^[a-z]$/i.test(key) ? key.toLowerCase() === "z" : code === "KeyZ";
}

/** Whether a key belongs to the field in which it was pressed. @param {KeyboardEvent} event */
export function isTyping(event) {
  const field = event.composedPath()[0];
  if (!(field instanceof HTMLElement)) return false;
  // Letters choose in a list, where no choice begins with a slash.
  if (field.matches("select")) return event.key !== "/";
  return field.matches("input:not([type=checkbox], [type=radio]), textarea, [contenteditable=true]");
}

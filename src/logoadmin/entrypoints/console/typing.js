/** Whether a key belongs to the field in which it was pressed. @param {KeyboardEvent} event */
export function isTyping(event) {
  const field = event.composedPath()[0];
  return field instanceof HTMLElement && field.matches("input:not([type=checkbox]), textarea, select, [contenteditable=true]");
}

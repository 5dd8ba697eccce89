/** The clipboard of the system. */

/** @param {string} text */
export async function toClipboard(text) {
  // There only where the page came by TLS or from this machine.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  return undefined;
}

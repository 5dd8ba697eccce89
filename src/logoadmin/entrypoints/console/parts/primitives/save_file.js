/** Hands a file to the browser, which saves it as a download. */

/** @param {Blob} blob @param {string} name */
export function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
}

/** @returns {string} for the name of a file */
export const today = () => new Date().toISOString().slice(0, 10);

/** Files: chosen, dropped or pasted into a form, saved, and their sizes in words. */
import { h, useEffect, useRef } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Button } from "./basics.js";

/** A button that takes a file. @param {{accept: string, take: (file: File) => void} & import("./basics.js").ButtonProps} props `accept` as of an `input`. */
export function FileButton({ accept, take, ...others }) {
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const chosen = () => {
    const [file] = input.current?.files ?? [];
    if (file) take(file);
    if (input.current) input.current.value = "";
  };
  return [
    h("input", { key: "input", ref: input, type: "file", hidden: true, accept, onChange: chosen }),
    h(Button, { key: "button", icon: "Upload", ...others, onClick: () => input.current?.click() }),
  ];
}

/**
 * Take files from a part of the form, and let none that misses it open in place of the page.
 *
 * @param {{current: HTMLElement | null}} place In the field that is marked meanwhile.
 * @param {object} how
 * @param {".field" | "form"} how.within
 * @param {(type: string) => boolean} how.accepts Whether files of a type are dropped here.
 * @param {(data: DataTransfer) => File | undefined} how.pasted What is taken from the clipboard, if anything.
 * @param {((file: File) => void) | undefined} how.take
 */
export function useGivenFiles(place, { within, accepts, pasted, take }) {
  const latest = useRef(take);
  latest.current = take;
  useEffect(() => {
    const area = /** @type {HTMLElement | null | undefined} */ (place.current?.closest(within));
    const field = place.current?.closest(".field");
    if (!area || !field) return undefined;
    const stop = new AbortController();
    const show = (/** @type {boolean} */ isOver) => field.classList.toggle("over", isOver);
    const drag = (/** @type {DragEvent} */ event) => {
      const { dataTransfer: data } = event;
      if (!data?.types.includes("Files")) return;
      const isHere = accepts(data.items[0]?.type ?? "") && event.target instanceof Node && area.contains(event.target);
      show(isHere);
      // Something else may take it.
      if (event.defaultPrevented && !isHere) return;
      event.preventDefault();
      data.dropEffect = isHere ? "copy" : "none";
    };
    const drop = (/** @type {DragEvent} */ event) => {
      show(false);
      const [file] = event.dataTransfer?.files ?? [];
      // A field takes its own before the form does. Systems that do not know CSS give its files no type.
      if (!file || event.defaultPrevented || !accepts(file.name.endsWith(".css") ? "text/css" : file.type)) return;
      event.preventDefault();
      latest.current?.(file);
    };
    const paste = (/** @type {ClipboardEvent} */ event) => {
      const isOthers = within === "form" && event.target instanceof Element && event.target.closest(".rare");
      const file = !isOthers && event.clipboardData && pasted(event.clipboardData);
      if (!file) return;
      event.preventDefault();
      event.stopPropagation();
      latest.current?.(file);
    };
    addEventListener("dragover", drag, { signal: stop.signal });
    addEventListener("dragleave", (event) => event.relatedTarget === null && show(false), { signal: stop.signal });
    area.addEventListener("drop", drop, { signal: stop.signal });
    // Before the CSS editor, which takes every text.
    area.addEventListener("paste", paste, { signal: stop.signal, capture: true });
    return () => {
      show(false);
      stop.abort();
    };
  }, [take === undefined]);
}

/** Hands a file to the browser, which saves it as a download. @param {Blob} blob @param {string} name */
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

/** Sizes of files, in words. @param {number} bytes @returns {string} in kilobytes or megabytes */
export const size = (bytes) => (bytes < 1_000_000 ? t("size.kb", { n: Math.ceil(bytes / 1000) }) : t("size.mb", { n: Math.round(bytes / 100_000) / 10 }));

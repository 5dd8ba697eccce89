/** Where a file comes from: it is chosen or dropped. */
import { h, useId, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Icon } from "../primitives/icon.js";

/** @param {{choose: (file: File) => void, again: boolean, disabled: boolean}} props */
export function FileChoice({ choose, again, disabled }) {
  const id = useId();
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [isOver, setOver] = useState(false);
  /** @param {DragEvent} event */
  const over = (event) => {
    event.preventDefault();
    setOver(!disabled);
  };
  /** @param {DragEvent} event */
  const dropped = (event) => {
    event.preventDefault();
    setOver(false);
    const [file] = event.dataTransfer?.files ?? [];
    if (file && !disabled) choose(file);
  };
  const changed = () => {
    const [file] = input.current?.files ?? [];
    // Choosing the same file again, once corrected, also counts as a change.
    if (input.current && file) choose(new File([file], file.name));
    if (input.current) input.current.value = "";
  };
  return h("div", { class: isOver ? "drop over" : "drop", onDragOver: over, onDragLeave: () => setOver(false), onDrop: dropped },
    h("input", { ref: input, id, type: "file", class: "hidden file-input", accept: ".jsonl,.ndjson,.json,.txt,.csv,.tsv", disabled, onChange: changed }),
    !again && h(Icon, { name: "Upload" }),
    h("label", { for: id, class: `button ${again ? "plain" : "primary"}` }, t(again ? "import.other" : "import.choose")),
    h("span", { class: "hint" }, t("import.drop")),
    h("span", { class: "hint" }, t("import.sizes")),
  );
}

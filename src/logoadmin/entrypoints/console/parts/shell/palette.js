/** The search over everything: one field, and below it the records, views and actions that match. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { describe } from "../../notices.js";
import { t } from "../../texts.js";
import { Dialog } from "../primitives/dialog.js";
import { Icon } from "../primitives/icon.js";
import { useOptions } from "./palette_options.js";

/** @typedef {import("./palette_options.js").Option} Option */

/** @param {{close: () => void, help: () => void}} props `help` shows the keys. */
export function Palette({ close, help }) {
  const id = useId();
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState("");
  const { groups, isBusy, failure } = useOptions(text, help);
  const options = groups.flatMap((group) => group.options);
  // The first one until the user moves: better ones may still arrive before it.
  const at = Math.max(0, options.findIndex((option) => option.id === chosen));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at, text]);
  const run = (/** @type {Option | undefined} */ option) => {
    if (!option) return;
    close();
    option.run();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || (!step && event.key !== "Enter")) return;
    event.preventDefault();
    if (step) setChosen(options.at((at + step) % options.length)?.id ?? "");
    else run(options[at]);
  };
  return h(Dialog, { title: t("palette.title"), close, look: "palette" },
    h("div", { class: "palette-field" },
      h(Icon, { name: "Search" }),
      h("input", {
        type: "text",
        role: "combobox",
        class: "palette-input",
        value: text,
        placeholder: t("palette.placeholder"),
        "aria-label": t("palette.title"),
        "aria-autocomplete": "list",
        "aria-expanded": options.length > 0,
        "aria-controls": `${id}-list`,
        "aria-activedescendant": options[at] && `${id}-${options[at].id}`,
        maxLength: 128,
        dir: "auto",
        spellcheck: false,
        autocomplete: "off",
        onInput: (/** @type {InputEvent} */ event) => {
          setText(/** @type {HTMLInputElement} */ (event.currentTarget).value);
          setChosen("");
        },
        onKeyDown: keys,
      }),
      h("button", { type: "button", class: "button quiet", onClick: close }, t("close")),
    ),
    h(
      "div",
      { id: `${id}-list`, ref: list, role: "listbox", class: "palette-list", "aria-label": t("palette.title"), hidden: options.length === 0 },
      groups.map((group, number) =>
        h("div", { key: group.title, role: "group", "aria-labelledby": `${id}-group-${number}` },
          h("div", { id: `${id}-group-${number}`, class: "palette-title" }, group.title),
          group.options.map((option) => h(Choice, { key: option.id, id: `${id}-${option.id}`, option, isChosen: option === options[at], run })),
        ),
      ),
    ),
    h("p", { class: options.length > 0 && !failure ? "hidden" : "palette-status", role: "status" },
      failure ? describe(failure) : text.trim() === "" ? "" : options.length > 0 ? t("found", { n: options.length }) : t(isBusy ? "palette.searching" : "palette.none"),
    ),
  );
}

/** @param {{id: string, option: Option, isChosen: boolean, run: (option: Option) => void}} props */
function Choice({ id, option, isChosen, run }) {
  return h("div", { id, role: "option", class: "palette-option", "aria-selected": isChosen, onClick: () => run(option) },
    h(Icon, { name: option.icon }),
    h("span", { class: "palette-text", dir: "auto" }, option.text),
    option.note && h("bdi", { class: "palette-note" }, option.note),
  );
}

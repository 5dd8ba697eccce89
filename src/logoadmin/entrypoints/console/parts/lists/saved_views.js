/** Searches that the user has saved by name, with their filters and order (contract J8). */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { prefer, preferences } from "../../preferences.js";
import { query, setQuery } from "../../router.js";
import { t } from "../../texts.js";
import { IconButton } from "../primitives/basics.js";

/** The most views of one list, and the most characters of a name: all preferences share 16 KiB. */
const MOST = 20;
const LENGTH = 64;
/** The part of the address that a view consists of. */
const CHOICES = ["q", "target", "active", "state", "author", "order"];

/** @typedef {{name: string, query: Record<string, string>}} SavedView */

/** @param {(name: string) => unknown} value @returns {Record<string, string>} every choice, empty where there is none */
const choices = (value) => Object.fromEntries(CHOICES.map((name) => [name, typeof value(name) === "string" ? String(value(name)) : ""]));

/** @param {string} list @returns {SavedView[]} */
function viewsOf(list) {
  const found = preferences.value[`views.${list}`];
  const valid = Array.isArray(found) ? found.filter((each) => typeof each?.name === "string" && typeof each.query === "object" && each.query) : [];
  return valid.map((each) => ({ name: each.name, query: choices((name) => each.query[name]) }));
}

/** @param {{list: string}} props The path of the list. */
export function SavedViews({ list }) {
  const views = viewsOf(list);
  const [renamed, setRenamed] = useState("");
  const element = useRef(/** @type {HTMLFieldSetElement | null} */ (null));
  const keep = (/** @type {SavedView[]} */ next) => prefer({ [`views.${list}`]: next });
  const without = (/** @type {string[]} */ ...names) => views.filter((each) => !names.includes(each.name));
  const rename = (/** @type {SavedView} */ view) => (/** @type {string} */ name) => {
    setRenamed("");
    keep([...without(view.name, name), { ...view, name }]);
  };
  const remove = (/** @type {SavedView} */ view) => {
    // The button goes, and the focus stays in the menu.
    element.current?.focus();
    keep(without(view.name));
  };
  const now = choices(query);
  const isNow = (/** @type {SavedView} */ view) => CHOICES.every((name) => view.query[name] === now[name]);
  return h(
    "fieldset",
    { ref: element, class: "menu-part", tabIndex: -1 },
    h("legend", null, t("views.saved")),
    views.map((view) =>
      renamed === view.name
        ? h(NameForm, { key: view.name, name: view.name, label: t("views.rename"), done: rename(view) })
        : h(
            "div",
            { key: view.name, class: "saved-view" },
            h("button", { type: "button", class: "button quiet", dir: "auto", "aria-pressed": isNow(view), onClick: () => setQuery(view.query) }, view.name),
            h(IconButton, { icon: "Pencil", class: "stays", label: t("views.rename.of", { name: view.name }), onClick: () => setRenamed(view.name) }),
            h(IconButton, { icon: "X", class: "stays", label: t("views.remove", { name: view.name }), onClick: () => remove(view) }),
          ),
    ),
    views.length < MOST
      ? h(NameForm, { key: "+", name: "", label: t("views.save"), done: (name) => keep([...without(name), { name, query: now }]) })
      : h("p", { class: "hint" }, t("views.full", { n: MOST })),
  );
}

/** @param {{name: string, label: string, done: (name: string) => void}} props */
function NameForm({ name, label, done }) {
  const [text, setText] = useState(name);
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => (name ? input.current?.select() : undefined), []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    if (text.trim()) done(text.trim());
    setText("");
  };
  return h(
    "form",
    { class: "saved-view", onSubmit: submit },
    h("input", { ref: input, class: "input", "aria-label": t("views.name"), placeholder: t("views.name"), maxLength: LENGTH, dir: "auto", autocomplete: "off", value: text, onInput: (/** @type {InputEvent} */ event) => setText(/** @type {HTMLInputElement} */ (event.currentTarget).value) }),
    h("button", { type: "submit", class: "button plain stays" }, label),
  );
}

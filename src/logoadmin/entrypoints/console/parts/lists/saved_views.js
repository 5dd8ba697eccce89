/** Searches that the user has saved by name, with their filters and order (contract J8). */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { prefer } from "../../preferences.js";
import { query, setQuery } from "../../router.js";
import { sayFailure } from "../../notices.js";
import { may } from "../../session.js";
import { amendShared } from "../../shared_settings.js";
import { t } from "../../texts.js";
import { IconButton } from "../primitives/basics.js";
import { addressOf, choices, isShown, preferenceOf, sharedViewsOf, viewsOf } from "./saved_searches.js";

/** The most views of one list, and the most characters of a name: all preferences share 16 KiB. */
const MOST = 20;
const LENGTH = 64;
/** @typedef {import("./saved_searches.js").SavedView} SavedView */

/** @param {{list: string}} props The path of the list. */
export function SavedViews({ list }) {
  const views = viewsOf(list);
  const [renamed, setRenamed] = useState("");
  const element = useRef(/** @type {HTMLFieldSetElement | null} */ (null));
  const keep = (/** @type {SavedView[]} */ next) => prefer({ [preferenceOf(list)]: next });
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
  /** @param {SavedView} view @param {boolean} isShared */
  const share = async (view, isShared) => {
    const isOther = (/** @type {{name: string, address: string}} */ each) => each.name !== view.name || !each.address.startsWith(`${list}?`);
    const one = isShared ? [{ name: view.name, address: addressOf(list, view) }] : [];
    element.current?.focus();
    try {
      await amendShared(({ views: all }) => ({ views: [...all.filter(isOther), ...one] }), t(isShared ? "views.shared" : "views.unshared", { name: view.name }));
      if (isShared) keep(without(view.name));
    } catch (error) {
      sayFailure(error);
    }
  };
  const now = choices(query);
  const show = (/** @type {SavedView} */ view) => h("button", { type: "button", class: "button quiet", dir: "auto", "aria-pressed": isShown(view, query), onClick: () => setQuery(view.query) }, view.name);
  return h(
    "fieldset",
    { ref: element, class: "menu-part", tabIndex: -1 },
    h("legend", null, t("views.saved")),
    sharedViewsOf(list).map((view) =>
      h("div", { key: `* ${view.name}`, class: "saved-view" }, show(view), h("span", { class: "hint" }, t("views.everybody")), may("*") && h(IconButton, { icon: "X", class: "stays", label: t("views.unshare", { name: view.name }), onClick: () => void share(view, false) })),
    ),
    views.map((view) =>
      renamed === view.name
        ? h(NameForm, { key: view.name, name: view.name, label: t("views.rename"), done: rename(view) })
        : h(
            "div",
            { key: view.name, class: "saved-view" },
            show(view),
            may("*") && h(IconButton, { icon: "Users", class: "stays", label: t("views.share", { name: view.name }), onClick: () => void share(view, true) }),
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

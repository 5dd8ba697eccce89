/** Dialogs for changing the target or the authors of many records. */
import { h, useEffect, useId, useState } from "../../vendor/preact.js";
import { KINDS, listOf, readList } from "../../records.js";
import { byName, t } from "../../texts.js";
import { Dialog } from "../primitives/dialog.js";
import { Why } from "../primitives/why.js";

/** @typedef {import("./bulk_work.js").Action} Action */
/** @typedef {"target" | "link" | "unlink"} Asked */

/**
 * @param {object} props
 * @param {Asked} props.what
 * @param {any[]} props.chosen
 * @param {any[]} props.artworks All that the list has.
 * @param {(action: Action, records: any[]) => void} props.begin
 * @param {() => void} props.close
 */
export function BulkDialog({ what, chosen, artworks, begin, close }) {
  const [value, setValue] = useState("");
  const [note, setNote] = useState("");
  const { records: authors } = listOf("author").value;
  useEffect(() => void readList("author"), []);
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const action = what === "target" ? withTarget(value.trim()) : withAuthor(what, authors, Number(value));
    const records = chosen.filter((record) => needs(what, record, value));
    close();
    if (records.length > 0) begin({ ...action, note: note.trim() }, records);
  };
  return h(Dialog, { title: t(`bulk.${what}.title`, { n: chosen.length }), close },
    h("form", { class: "form", onSubmit: submit },
      what === "target" ? h(Target, { value, artworks, change: setValue }) : h(Author, { value, choices: authorsFor(what, chosen, authors ?? []), change: setValue }),
      h(Why, { value: note, change: setNote }),
      h("div", { class: "cluster dialog-actions" },
        h("button", { type: "button", class: "button plain", onClick: close }, t("cancel")),
        h("button", { type: "submit", class: "button primary", disabled: value.trim() === "" }, t(`bulk.${what}`)),
      ),
    ),
  );
}

/** @param {{value: string, artworks: any[], change: (value: string) => void}} props */
function Target({ value, artworks, change }) {
  const id = useId();
  const targets = [...new Set(artworks.map((record) => record.target))].sort(byName);
  return h("div", { class: "field" },
    h("label", { class: "label", for: id }, t("field.target")),
    h("input", { id, class: "input", list: `${id}-known`, maxLength: 64, required: true, autocomplete: "off", spellcheck: false, dir: "auto", value, onInput: (/** @type {InputEvent} */ event) => change(/** @type {HTMLInputElement} */ (event.currentTarget).value) }),
    h("datalist", { id: `${id}-known` }, targets.map((target) => h("option", { key: target, value: target }))),
  );
}

/** @param {{value: string, choices: {author_id: number, username: string}[], change: (value: string) => void}} props */
function Author({ value, choices, change }) {
  const id = useId();
  return h("div", { class: "field" },
    h("label", { class: "label", for: id }, t("filter.author")),
    h(
      "select",
      { id, class: "input", value, required: true, onChange: (/** @type {Event} */ event) => change(/** @type {HTMLSelectElement} */ (event.currentTarget).value) },
      h("option", { value: "" }, t("bulk.author.choose")),
      choices.map(({ author_id: authorId, username }) => h("option", { key: authorId, value: String(authorId), dir: "auto" }, username)),
    ),
  );
}

/** @param {Asked} what @param {any[]} chosen @param {any[]} authors @returns {any[]} by name */
function authorsFor(what, chosen, authors) {
  const found = what === "link" ? authors : [...new Map(chosen.flatMap((record) => record.authors).map((author) => [author.author_id, author])).values()];
  return found.toSorted((a, b) => byName(a.username, b.username));
}

/** @param {Asked} what @param {any} record @param {string} value @returns {boolean} whether it is not so already */
function needs(what, record, value) {
  if (what === "target") return record.target !== value.trim();
  return record.authors.some((/** @type {any} */ author) => String(author.author_id) === value) === (what === "unlink");
}

/** @param {string} target @returns {Action} */
const withTarget = (target) => ({ act: "target", values: { target }, change: () => ({ set: { target } }) });

/** @param {"link" | "unlink"} what @param {any[] | undefined} authors @param {number} authorId @returns {Action} */
function withAuthor(what, authors, authorId) {
  const author = authors?.find((each) => each[KINDS.author.id] === authorId)?.username ?? String(authorId);
  const change = (/** @type {any} */ record) => {
    const ids = record.authors.map((/** @type {any} */ each) => each.author_id).filter((/** @type {number} */ id) => id !== authorId);
    return { set: { author_ids: what === "link" ? [...ids, authorId] : ids } };
  };
  return { act: what, values: { author }, change };
}

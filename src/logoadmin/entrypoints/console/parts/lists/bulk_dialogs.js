/** Dialogs for changing the target, the authors, the tags or the licence of many records. */
import { h, useEffect, useId, useState } from "../../vendor/preact.js";
import { LICENCES, tagsIn, tagsOf } from "../../details.js";
import { KINDS, listOf, readList } from "../../records.js";
import { byName, t } from "../../texts.js";
import { Dialog } from "../primitives/dialog.js";
import { Why } from "../primitives/why.js";

/** @typedef {import("./bulk_work.js").Action} Action */
/** @typedef {"target" | "link" | "unlink" | "licence" | "tag" | "untag"} Asked */

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
    const { values, needs, change } = doing(what, value.trim(), authors ?? []);
    const records = chosen.filter(needs);
    close();
    if (records.length > 0) begin({ act: what, values, change: (record) => ({ set: change(record) }), note: note.trim() }, records);
  };
  return h(Dialog, { title: t(`bulk.${what}.title`, { n: chosen.length }), close },
    h("form", { class: "form", onSubmit: submit },
      h(Value, { what, value, change: setValue, choices: choicesFor(what, chosen, artworks, authors ?? []) }),
      h(Why, { value: note, change: setNote }),
      h("div", { class: "cluster dialog-actions" },
        h("button", { type: "button", class: "button plain", onClick: close }, t("cancel")),
        h("button", { type: "submit", class: "button primary", disabled: value.trim() === "" }, t(`bulk.${what}`)),
      ),
    ),
  );
}

const LABELS = /** @type {const} */ ({ target: "field.target", link: "filter.author", unlink: "filter.author", licence: "field.details_licence", tag: "field.details_tags", untag: "bulk.untag.which" });
/** What may be something else than what is known. */
const LONGEST = { target: 64, licence: 64, tag: 329 };

/** Chosen from a list, or typed. @param {{what: Asked, value: string, choices: [string, string][], change: (value: string) => void}} props */
function Value({ what, value, choices, change }) {
  const id = useId();
  const options = choices.map(([each, label]) => h("option", { key: each, value: each, dir: "auto" }, label));
  const set = (/** @type {Event} */ event) => change(/** @type {HTMLInputElement} */ (event.currentTarget).value);
  return h("div", { class: "field" },
    h("label", { class: "label", for: id }, t(LABELS[what])),
    what in LONGEST
      ? h("input", { id, class: "input", list: `${id}-known`, maxLength: LONGEST[/** @type {keyof typeof LONGEST} */ (what)], required: true, autocomplete: "off", spellcheck: false, dir: "auto", value, onInput: set })
      : h("select", { id, class: "input", value, required: true, onChange: set }, h("option", { value: "" }, t(what === "untag" ? "bulk.untag.choose" : "bulk.author.choose")), options),
    what in LONGEST && h("datalist", { id: `${id}-known` }, options),
  );
}

/** @param {Asked} what @param {any[]} chosen @param {any[]} artworks @param {any[]} authors @returns {[string, string][]} what is known, and how it is called */
function choicesFor(what, chosen, artworks, authors) {
  if (what === "link" || what === "unlink") {
    const found = what === "link" ? authors : [...new Map(chosen.flatMap((record) => record.authors).map((author) => [author.author_id, author])).values()];
    return found.toSorted((a, b) => byName(a.username, b.username)).map(({ author_id: id, username }) => [String(id), username]);
  }
  const targets = () => [...new Set(artworks.map((record) => record.target))].sort(byName);
  const known = { target: targets, licence: () => LICENCES, tag: () => tagsOf(artworks), untag: () => tagsOf(chosen) }[what]();
  return known.map((each) => [each, each]);
}

/** @typedef {{values: Record<string, string>, needs: (record: any) => boolean, change: (record: any) => Record<string, unknown>}} Doing `needs`: whether it is not so already. */

/** @param {Asked} what @param {string} value @param {any[]} authors @returns {Doing} */
function doing(what, value, authors) {
  if (what === "target") return { values: { target: value }, needs: (record) => record.target !== value, change: () => ({ target: value }) };
  if (what === "licence") return { values: { licence: value }, needs: ({ details }) => details?.licence !== value, change: () => ({ details: { licence: value } }) };
  if (what === "link" || what === "unlink") {
    const authorId = Number(value);
    const idsOf = (/** @type {any} */ record) => /** @type {number[]} */ (record.authors.map((/** @type {any} */ each) => each.author_id));
    const author = authors.find((each) => each[KINDS.author.id] === authorId)?.username ?? value;
    return {
      values: { author },
      needs: (record) => idsOf(record).includes(authorId) === (what === "unlink"),
      change: (record) => ({ author_ids: [...idsOf(record).filter((id) => id !== authorId), ...(what === "link" ? [authorId] : [])] }),
    };
  }
  const tags = tagsIn(value);
  const before = (/** @type {any} */ { details }) => /** @type {string[]} */ (details?.tags ?? []);
  return {
    values: { tag: tags.join(", ") },
    needs: (record) => tags.some((tag) => before(record).includes(tag) === (what === "untag")),
    change: (record) => ({ details: { tags: what === "tag" ? [...new Set([...before(record), ...tags])] : before(record).filter((tag) => !tags.includes(tag)) } }),
  };
}

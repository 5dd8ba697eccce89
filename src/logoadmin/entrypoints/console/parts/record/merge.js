/** Merges concurrent edits of a record: the other user's version, the input, and their common base, field by field. */
import { h, useMemo, useState } from "../../vendor/preact.js";
import { authorName } from "../artwork/authorship.js";
import { say } from "../../notices.js";
import { enumeration, t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Value, members } from "../history/change_diff.js";
import { Dialog } from "../primitives/dialog.js";
import { Diff } from "../diff/diff.js";
import { words } from "../primitives/fields.js";
import { useTitle } from "./conflict_banner.js";
import { mergedLines, mergedList } from "../diff/line_diff.js";

/** @typedef {ReturnType<FormState["against"]>[number] & {both: unknown}} Row */
/** @typedef {"mine" | "theirs" | "both"} Choice */

/** @param {{editing: Editing, form: FormState, theirs: Answer}} props */
export function Merge({ editing, form, theirs }) {
  const rows = useMemo(() => form.against(theirs.data).map((row) => ({ ...row, both: bothOf(row) })), [form, theirs]);
  const [chosen, setChosen] = useState(() => chosenOf(rows));
  const title = useTitle(editing, theirs.etag);
  const close = () => {
    editing.theirs.value = undefined;
  };
  const isDecided = rows.every(({ field }) => chosen[field.name]);
  const save = () => {
    editing.resolve(Object.fromEntries(rows.map((row) => [row.field.name, row[chosen[row.field.name] ?? "mine"]])));
    if (form.isChanged.value) void editing.save();
    else say(t("merge.taken"));
  };
  return h(Dialog, { title, close, look: "wide" },
    h("p", null, t(rows.length ? "merge.text" : "merge.same")),
    rows.map((row) =>
      h(Field, {
        key: row.field.name,
        row,
        choice: chosen[row.field.name],
        choose: (choice) => setChosen({ ...chosen, [row.field.name]: choice }),
      }),
    ),
    h("div", { class: "cluster dialog-actions merge-actions" },
      h("button", { type: "button", class: "button plain", onClick: close }, t("merge.later")),
      h(Button, { tone: "primary", reason: isDecided ? undefined : t("merge.undecided"), onClick: save }, t("merge.save")),
    ),
  );
}

/** @param {Field} field @returns {boolean} whether it is read and merged line by line */
const isLines = ({ widget }) => widget === "css" || widget === "markdown";

/** @param {ReturnType<FormState["against"]>[number]} row @returns {unknown} what both did, where that goes together */
function bothOf({ field, base, mine, theirs, isMine, isTheirs }) {
  if (!isMine || !isTheirs) return undefined;
  if (isLines(field)) return mergedLines(String(base), String(mine), String(theirs));
  if (Array.isArray(base)) {
    const [was, ours, others] = [base, mine, theirs].map((list) => /** @type {any[]} */ (list).map((each) => JSON.stringify(each)));
    return mergedList(was ?? [], ours ?? [], others ?? [])?.map((each) => JSON.parse(each));
  }
  return undefined;
}

/** @param {Row[]} rows @returns {Record<string, Choice>} what goes without asking */
function chosenOf(rows) {
  /** @type {Record<string, Choice>} */
  const chosen = {};
  for (const { field, isMine, isTheirs, both } of rows) {
    if (!isMine || !isTheirs) chosen[field.name] = isMine ? "mine" : "theirs";
    else if (both !== undefined) chosen[field.name] = "both";
  }
  return chosen;
}

/** @param {{row: Row, choice: Choice | undefined, choose: (choice: Choice) => void}} props */
function Field({ row, choice, choose }) {
  const { field, base, mine, theirs, both, isMine, isTheirs } = row;
  const options = /** @type {Choice[]} */ (["theirs", "mine", ...(both === undefined ? [] : ["both"])]);
  const values = { mine, theirs, both };
  const what = isMine && isTheirs ? "merge.changed.both" : isMine ? "merge.changed.mine" : "merge.changed.theirs";
  return h("fieldset", { class: "box stack merge-field" },
    h("legend", null, words(field.name, "label"), h("span", { class: "tag" }, t(what))),
    h("div", { class: "stack tight merge-base" }, h("span", { class: "hint" }, t("merge.base")), h(Shown, { field, value: base })),
    h("div", { class: "merge-options" },
      options.map((option) =>
        h("div", { key: option, class: choice === option ? "box stack merge-option chosen" : "box stack merge-option" },
          h("label", null,
            h("input", { type: "radio", name: `merge-${field.name}`, checked: choice === option, onChange: () => choose(option) }),
            h("strong", null, t(`merge.${option}`)),
          ),
          h(Shown, { field, value: values[option], base }),
        ),
      ),
    ),
  );
}

/** What a field holds; of CSS, what differs from where both began. @param {{field: Field, value: unknown, base?: unknown}} props */
function Shown({ field, value, base }) {
  if (isLines(field)) {
    const text = String(value ?? "");
    if (base === undefined) return h("pre", { class: "merge-css", tabIndex: 0 }, text || t("none"));
    return h(Diff, { before: String(base ?? ""), after: text, label: words(field.name, "label") });
  }
  if (field.widget === "authors") return h("bdi", null, enumeration(/** @type {number[]} */ (value).map(authorName)) || t("none"));
  if (Array.isArray(value)) return h("bdi", null, enumeration(members(field.name, value)) || t("none"));
  return h(Value, { name: field.name, value });
}

/** The head of a record, which stays in view: what it is, its state, when it was changed, and what can be done to it. */
import { h } from "../../vendor/preact.js";
import { Actor } from "../history/change_words.js";
import { KINDS } from "../../records.js";
import { navigate, path, withChoices } from "../../router.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { ActionMenu, MenuItem } from "../primitives/action_menu.js";
import { Button, Heading, Time, rich } from "../primitives/basics.js";
import { askWhy } from "../primitives/why.js";
import { useLastChange } from "./conflict_banner.js";

/** @typedef {import("./editing.js").Editing} Editing */
/** @typedef {import("./record_page.js").PageProps} PageProps */

/** The form of the record, which the buttons of the head submit. */
export const FORM = "record-form";

/** @param {{editing: Editing, title: string} & PageProps} props */
export function RecordHead({ editing, title, ...props }) {
  const record = editing.record.value;
  const exists = record && !editing.isNew && !editing.isGone.value;
  const picture = exists && props.picture?.(record);
  return [
    h("header", { key: "head", class: "record-head" },
      picture && h("div", { class: "record-picture" }, picture),
      h(Heading, { title }),
      h("div", { class: "record-actions" },
        editing.form.value && h(Saving, { editing, form: editing.form.value, ...props }),
        exists && h(Actions, { editing, ...props }),
      ),
    ),
    exists && h(Facts, { key: "facts", editing, states: props.states?.(record) }),
  ];
}

/** Its state, its id, and its first and its last change. @param {{editing: Editing, states: any}} props */
function Facts({ editing, states }) {
  const record = editing.record.value;
  const last = useLastChange(editing, record);
  const who = last && h(Actor, { did: last });
  const isFirst = last?.action === `${editing.kind}.created`;
  return h("p", { class: "hint record-facts" },
    states,
    h("span", null, `${t("field.id")} ${editing.recordId}`),
    h("span", null, rich(isFirst ? "record.created.by" : "record.created", { when: h(Time, { seconds: record.created_at }), who })),
    last && !isFirst && h("span", null, rich("record.changed.by", { when: h(Time, { seconds: last.at }), who })),
  );
}

/** @param {{editing: Editing, form: import("../../form.js").FormState} & PageProps} props */
function Saving({ editing, form, kind, blocked }) {
  const { write } = KINDS[kind];
  const isChanged = form.isChanged.value;
  const isGone = editing.isGone.value;
  const isSaving = editing.isSaving.value;
  const reason = blocked?.(editing.record.value) || (isGone ? t("gone.reason") : undefined);
  const isSaved = !editing.isNew && !isChanged;
  const idle = isSaved || (editing.isBusy.value && !isSaving);
  const words = isSaving ? "record.saving" : editing.isNew ? "create" : isSaved && !reason && may(write) ? "record.saved" : "save";
  return [
    isChanged && !editing.isNew && !isGone && h(Button, { key: "discard", icon: "Undo2", onClick: () => editing.discard() }, h("span", { class: "record-discard" }, t("discard"))),
    h(Button, { key: "save", type: "submit", form: FORM, tone: "primary record-save", icon: words === "record.saved" ? "Check" : undefined, scope: write, reason, busy: isSaving, idle }, t(words)),
  ];
}

/** The dangerous ones are last. @param {{editing: Editing} & PageProps} props */
function Actions({ editing, ...props }) {
  const { kind, list, newTitle } = props;
  const { write } = KINDS[kind];
  // A copy makes no sense of people, who exist once.
  const hasCopies = kind !== "author" && kind !== "user";
  return h(ActionMenu, { label: t("record.actions") },
    hasCopies && h(MenuItem, { icon: "CopyPlus", shortcut: "D", scope: write, onClick: () => void navigate(`${list}/new?copy=${editing.recordId}`) }, t("duplicate")),
    h(MenuItem, { icon: "Plus", shortcut: "N", scope: write, onClick: () => void navigate(`${list}/new`) }, newTitle),
    h("div", { role: "separator" }),
    props.actions?.(editing),
    h(Remove, { editing, ...props }),
  );
}

/** @param {{editing: Editing} & PageProps} props */
function Remove({ editing, kind, list, blocked, needed }) {
  const record = editing.record.value;
  const remove = async () => {
    const { name } = editing;
    const note = await askWhy({ title: t("remove.title", { name }), text: t("remove.text"), yes: t("remove"), no: t("cancel"), tone: "danger" });
    if (note === undefined) return;
    const left = path.value;
    // Tried again later, it may find the person elsewhere.
    await editing.remove(note, () => void (path.value === left && navigate(withChoices(list))));
  };
  const reason = blocked?.(record) || needed?.(record);
  const isSaving = editing.isSaving.value;
  const busy = editing.isBusy.value && !isSaving;
  return h(MenuItem, { tone: "danger", icon: "Trash", scope: KINDS[kind].write, reason, busy, idle: isSaving, onClick: () => void remove() }, t("remove"));
}

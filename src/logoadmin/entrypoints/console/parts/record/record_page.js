/** One record of any kind, or a new one: its form, saving, removing, the way back from both, and what others do to it. */
import { h, useEffect, useMemo } from "../../vendor/preact.js";
import { call, returned } from "../../client.js";
import { KINDS, opened, trailOf } from "../../records.js";
import { closeBeside, listBehind, navigate, path, query, withChoices } from "../../router.js";
import { may, whoAmI } from "../../session.js";
import { t } from "../../texts.js";
import { Actor } from "../history/words.js";
import { ActionMenu, MenuItem } from "../primitives/action_menu.js";
import { Breadcrumbs, Button, Heading, IconButton, lazy, Pending, rich, Time } from "../primitives/basics.js";
import { useLook, useRead } from "../primitives/hooks.js";
import { RecordForm } from "../primitives/fields.js";
import { askWhy } from "../primitives/form_dialog.js";
import { Ways } from "../primitives/pages.js";
import { Gone, Newer, useLastChange } from "./conflict_banner.js";
import { Editing } from "./editing.js";

/** How often it is asked whether somebody else changed the record, in milliseconds. */
const LOOK = 20_000;

/**
 * The editing state of a record, including changes by others.
 *
 * @param {KindName} kind @param {string | undefined} recordId None for a new one.
 * @param {import("./editing.js").KindRules} rules
 * @returns {Editing}
 */
function useEditing(kind, recordId, rules) {
  const editing = useMemo(() => new Editing(kind, recordId === undefined ? undefined : Number(recordId), rules), [kind, recordId]);
  editing.rules = rules;
  useEffect(() => void editing.load(), [editing, returned.value]);
  useEffect(() => () => editing.leave(), [editing]);
  const look = () => {
    if (editing.recordId !== undefined && !editing.isBusy.value) void editing.load();
    // A revoked scope may be granted again, while the input waits for it.
    if (!may(KINDS[kind].write)) void whoAmI().catch(() => undefined);
  };
  useLook(look, LOOK, [editing]);
  const isAllowed = may(KINDS[kind].write);
  useEffect(() => {
    if (isAllowed) editing.complaint.value = "";
  }, [editing, isAllowed]);
  return editing;
}

/**
 * @typedef {object} PageProps
 * @property {KindName} kind
 * @property {string | undefined} recordId
 * @property {string} list The path of the list.
 * @property {string} newTitle
 * @property {(record: any) => any} [children] Below the form.
 * @property {(form: FormState, record: any) => any} [aside] Beside the form, and in view while one types.
 * @property {(record: any) => any} [beside] What else belongs to the record: beside the form where there is room, else below it.
 * @property {(record: any) => any} [picture] Small, beside the name of a record that exists.
 * @property {(record: any) => any} [states] Its state in a word or two.
 * @property {(form: FormState, record: any) => any} [preview] Below the fields, such as the effect of saving.
 * @property {(editing: Editing) => any} [actions] Items of the menu of a record that exists, before removing it.
 * @property {(editing: Editing) => any} [state] Above the form, such as a warning about a record that exists.
 * @property {(record: any) => string} [blocked] Why the person may not change this one, whatever right they hold.
 * @property {(record: any) => void} [made] What follows after a new one was created.
 * @property {(record: any) => string} [needed] Why it cannot be removed.
 */

/** @param {PageProps & Omit<import("./editing.js").KindRules, "created">} props */
export function RecordPage(props) {
  const { kind, recordId, list, newTitle, children, aside, beside } = props;
  const created = async (/** @type {any} */ record) => {
    await navigate(`${list}/${record[KINDS[kind].id]}`, { replace: true });
    props.made?.(record);
  };
  const copied = query("copy");
  const editing = useEditing(kind, recordId, { ...props, created, ...(/^\d+$/.test(copied) ? { copyOf: Number(copied) } : {}) });
  const form = editing.form.value;
  const failure = editing.failure.value;
  const isGone = editing.isGone.value;
  const id = editing.record.value?.[KINDS[kind].id];
  useEffect(() => {
    if (id !== undefined && !isGone) opened({ kind, id, name: editing.name });
  }, [id, editing.name, isGone]);
  const record = editing.record.value;
  const title = editing.name || (editing.isNew ? newTitle : t(`${kind}.title`));
  const besideForm = form && aside && h("div", { key: "aside", class: "editor-aside" }, aside(form, editing.record.value));
  return h("div", { class: aside ? "view record" : "view record narrow" },
    h("div", { class: "spread record-way" },
      listBehind.value ? h(SheetActions, {}) : h(Breadcrumbs, { list, title: t(`${kind}s.title`), name: title }),
      id !== undefined && h(Neighbours, { kind, id, list }),
    ),
    h(RecordHead, { editing, title, ...props }),
    isGone && h(Gone, { editing, list }),
    !form && !isGone && h(Pending, { failure, again: () => editing.load() }),
    h(Newer, { editing }),
    record && !editing.isNew && !isGone && props.state?.(editing),
    editing.complaint.value && h("p", { class: "complaint", role: "alert", dir: "auto" }, editing.complaint.value),
    form &&
      h("div", { class: aside ? "editor" : beside ? "record-columns" : "" },
        // Beside a list, one looks at records before one edits them.
        listBehind.value && besideForm,
        h(Form, { key: "form", editing, form, ...props }),
        !listBehind.value && besideForm,
        beside && h("div", { class: "beside" }, beside(record)),
      ),
    form && editing.theirs.value && h(Merge, { editing, form, theirs: editing.theirs.value }),
    form && children?.(record),
  );
}

/** What stands in place of the way to the list, where that is in view. */
function SheetActions() {
  return h("div", { class: "cluster" },
    h(IconButton, { icon: "X", label: t("close"), "aria-keyshortcuts": "Escape", onClick: closeBeside }),
    h(Button, { tone: "quiet", onClick: () => void navigate(path.value, { beside: "", replace: true }) }, t("record.whole")),
  );
}

/** The other user's version beside the input; conflicts are rare. */
const Merge = lazy(() => import("./merge.js").then((module) => module.Merge));

/** @param {{editing: Editing, form: FormState} & PageProps} props */
function Form({ editing, form, kind, preview, blocked }) {
  const { write } = KINDS[kind];
  const isChanged = form.isChanged.value;
  const isGone = editing.isGone.value;
  const reason = blocked?.(editing.record.value);
  // Input from before a scope was revoked can still be read and copied.
  const disabled = Boolean(reason) || (!may(write) && !isChanged) || (isGone && !isChanged);
  return h("div", { class: "form-column" },
    reason && h("p", { class: "remark" }, reason),
    h(RecordForm, { form, id: FORM, save: () => editing.save(), disabled, isNew: editing.isNew },
      preview?.(form, editing.record.value),
    ),
  );
}

/** The form of the record, which the buttons of the head submit. */
export const FORM = "record-form";

/** @param {{editing: Editing, title: string} & PageProps} props */
function RecordHead({ editing, title, ...props }) {
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

/** @param {{editing: Editing, form: FormState} & PageProps} props */
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

/** @typedef {{previous: number | undefined, next: number | undefined, at?: number, all?: number}} Around */

/** The way from a record to the next and the previous one, in the order of the list; by id for records that it did not show. @param {{kind: KindName, id: number, list: string}} props */
function Neighbours({ kind, id, list }) {
  // Known at once, so that a second key is not too early.
  const trail = useMemo(() => trailOf(kind, id), [kind, id]);
  const read = useRead(async (signal) => (trail ? undefined : around(kind, id, signal)), [kind, id]);
  const data = trail ? { previous: trail.ids[trail.at - 1], next: trail.ids[trail.at + 1], at: trail.at, all: trail.ids.length } : read.data;
  return h(Ways, { place: data?.at, all: data?.all, ways: data, go: (to) => void navigate(`${list}/${to}`) });
}

/** @param {KindName} kind @param {number} id @param {AbortSignal} signal @returns {Promise<Around>} */
async function around(kind, id, signal) {
  const { list, id: name, anonymous } = KINDS[kind];
  const beside = (/** @type {"asc" | "desc"} */ order) => /** @type {Promise<Answer>} */ (call("get", /** @type {any} */ (list), /** @type {any} */ ({ query: { after: id, order, limit: 1 }, anonymous, signal })));
  const [previous, next] = await Promise.all([beside("desc"), beside("asc")]);
  return { previous: previous.data[0]?.[name], next: next.data[0]?.[name] };
}

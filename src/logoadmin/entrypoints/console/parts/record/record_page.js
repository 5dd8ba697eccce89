/** One record of any kind, or a new one: its form, saving, removing, the way back from both, and what others do to it. */
import { h, useEffect, useMemo, useState } from "../../vendor/preact.js";
import { Failure, returned } from "../../client.js";
import { Editing } from "./editing.js";
import { sayFailure } from "../../notices.js";
import { opened } from "../../recent.js";
import { KINDS } from "../../records.js";
import { closeBeside, listBehind, navigate, path, query } from "../../router.js";
import { may, whoAmI } from "../../session.js";
import { t } from "../../texts.js";
import { Button, IconButton, Skeleton, Unread } from "../primitives/basics.js";
import { Breadcrumbs } from "../primitives/breadcrumbs.js";
import { RecordForm } from "../primitives/fields.js";
import { Gone, Newer } from "./conflict_banner.js";
import { Neighbours } from "./neighbours.js";
import { FORM, RecordHead } from "./record_head.js";

/** @typedef {import("../../records.js").KindName} KindName */
/** @typedef {import("../../form.js").FormState} FormState */

/** How often it is asked whether somebody else changed the record, in milliseconds. */
const LOOK = 20_000;

/**
 * The editing state of a record, including changes by others.
 *
 * @param {KindName} kind @param {string | undefined} recordId None for a new one.
 * @param {import("./editing.js").Manner} manner
 * @returns {Editing}
 */
function useEditing(kind, recordId, manner) {
  const editing = useMemo(() => new Editing(kind, recordId === undefined ? undefined : Number(recordId), manner), [kind, recordId]);
  editing.manner = manner;
  useEffect(() => void editing.load(), [editing, returned.value]);
  useEffect(() => {
    const look = () => {
      if (document.visibilityState !== "visible") return;
      if (editing.recordId !== undefined && !editing.isBusy.value) void editing.load();
      // A revoked scope may be granted again, while the input waits for it.
      if (!may(KINDS[kind].write)) void whoAmI().catch(() => undefined);
    };
    const timer = setInterval(look, LOOK);
    document.addEventListener("visibilitychange", look);
    return () => {
      editing.leave();
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
    };
  }, [editing]);
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
 * @property {any} [children] Below the form; a function of the record, and of what reads it again, where it needs them.
 * @property {(form: FormState, record: any) => any} [aside] Beside the form, and in view while one types.
 * @property {(record: any) => any} [beside] What else belongs to the record: beside the form where there is room, else below it.
 * @property {(record: any) => any} [picture] Small, beside the name of a record that exists.
 * @property {(record: any) => any} [states] Its state in a word or two.
 * @property {(form: FormState, record: any, again: () => void) => any} [preview] Below the fields, such as the effect of saving.
 * @property {(editing: Editing) => any} [actions] Items of the menu of a record that exists, before removing it.
 * @property {(editing: Editing) => any} [state] Above the form, such as a warning about a record that exists.
 * @property {(record: any) => string} [blocked] Why the person may not change this one, whatever right they hold.
 * @property {(record: any) => void} [made] What follows after a new one was created.
 * @property {(record: any) => string} [needed] Why it cannot be removed.
 */

/** @param {PageProps & Omit<import("./editing.js").Manner, "created">} props */
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
  const again = () => void editing.load();
  const title = editing.name || (editing.isNew ? newTitle : t(`${kind}.title`));
  const besideForm = form && aside && h("div", { key: "aside", class: "editor-aside" }, aside(form, editing.record.value));
  return h("div", { class: aside ? "view record" : "view record narrow" },
    h("div", { class: "spread record-way" },
      listBehind.value ? h(SheetActions, {}) : h(Breadcrumbs, { list, title: t(`${kind}s.title`), name: title }),
      id !== undefined && h(Neighbours, { kind, id, list }),
    ),
    h(RecordHead, { editing, title, ...props }),
    isGone && h(Gone, { editing, list }),
    !form && !isGone && (failure ? h(Unread, { failure, again }) : h(Skeleton, {})),
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
    form && editing.theirs.value && h(Compared, { editing, form, theirs: editing.theirs.value }),
    form && (typeof children === "function" ? children(record, again) : children),
  );
}

/** What stands in place of the way to the list, where that is in view. */
function SheetActions() {
  return h("div", { class: "cluster" },
    h(IconButton, { icon: "X", label: t("close"), "aria-keyshortcuts": "Escape", onClick: closeBeside }),
    h(Button, { tone: "quiet", onClick: () => void navigate(path.value, { beside: "", replace: true }) }, t("record.whole")),
  );
}

/** The other user's version beside the input; loaded on demand, since conflicts are rare. @param {{editing: Editing, form: FormState, theirs: import("../../client.js").Answer<any>}} props */
function Compared(props) {
  const [part, setPart] = useState(/** @type {typeof import("./merge.js") | undefined} */ (undefined));
  useEffect(() => {
    const lost = () => {
      props.editing.theirs.value = undefined;
      sayFailure(new Failure("away"));
    };
    import("./merge.js").then(setPart, lost);
  }, []);
  return part ? h(part.Merge, props) : null;
}

/** @param {{editing: Editing, form: FormState} & PageProps} props */
function Form({ editing, form, kind, preview, blocked }) {
  const again = () => void editing.load();
  const { write } = KINDS[kind];
  const isChanged = form.isChanged.value;
  const isGone = editing.isGone.value;
  const reason = blocked?.(editing.record.value);
  // Input from before a scope was revoked can still be read and copied.
  const disabled = Boolean(reason) || (!may(write) && !isChanged) || (isGone && !isChanged);
  return h("div", { class: "form-column" },
    reason && h("p", { class: "remark" }, reason),
    h(RecordForm, { form, id: FORM, save: () => editing.save(), disabled, isNew: editing.isNew },
      preview?.(form, editing.record.value, again),
    ),
  );
}

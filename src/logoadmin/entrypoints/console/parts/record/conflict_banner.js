/** Conflict with others: the user who changed or removed a record meanwhile, and how to restore it. */
import { h } from "../../vendor/preact.js";
import { readLatest } from "../history/changes.js";
import { actor } from "../history/words.js";
import { KINDS } from "../../records.js";
import { withChoices } from "../../router.js";
import { may } from "../../session.js";
import { t } from "../../texts.js";
import { Band, Button, Link, rich, Time } from "../primitives/basics.js";
import { useRead } from "../primitives/hooks.js";

/**
 * The last change of a record.
 *
 * @param {Editing} editing
 * @param {unknown} since Read again when this differs.
 * @returns {Change | null | undefined} nothing until it is read, and null where there is none or one may not read it
 */
export function useLastChange(editing, since) {
  const { kind, recordId: id } = editing;
  const { data, failure } = useRead(async (signal) => (may("changes:read") ? ((await readLatest({ kind, id }, signal))[0] ?? null) : null), [editing, since]);
  return failure ? null : data;
}

/** @param {{editing: Editing, list: string}} props */
export function Gone({ editing, list }) {
  const last = useLastChange(editing, true);
  const removal = last?.action.endsWith(".removed") ? last : undefined;
  const { write } = KINDS[editing.kind];
  const isRemoved = Boolean(removal || editing.form.value);
  const isTyped = editing.form.value?.isChanged.value;
  const restore = removal && h(Button, { key: "restore", tone: "primary", icon: "RotateCcw", scope: write, busy: editing.isBusy.value, onClick: () => void editing.restore(removal.change_id) }, t("gone.restore"));
  return h(
    Band,
    {
      icon: isRemoved ? "Trash" : "SearchX",
      tone: isRemoved ? "danger" : "warning",
      role: "alert",
      title: t(isRemoved ? "gone.title" : "gone.never"),
      actions: [restore, h(Link, { key: "back", to: withChoices(list), class: "button plain" }, t("back"))],
    },
    removal && h("p", null, rich("gone.who", { who: h("bdi", null, actor(removal)), when: h(Time, { seconds: removal.at }) })),
    isTyped && h("p", null, t("gone.kept")),
    removal || last === undefined || may("changes:read") ? null : h("p", null, t("gone.ask")),
    editing.complaint.value && h("p", { class: "problem" }, editing.complaint.value),
  );
}

/** That there is something newer, while one types. @param {{editing: Editing}} props */
export function Newer({ editing }) {
  const { newer } = editing;
  if (!newer.value || editing.isGone.value) return null;
  return h(NewerWords, { editing, etag: newer.value.etag });
}

/** @param {{editing: Editing, etag: string}} props */
function NewerWords({ editing, etag }) {
  const title = useTitle(editing, etag);
  const actions = h(Button, { icon: "GitCompareArrows", onClick: () => editing.face() }, t("merge.look"));
  return h(Band, { icon: "Users", title, actions }, h("p", null, t("merge.kept")));
}

/** @param {Editing} editing @param {string} etag @returns {string} who wrote meanwhile */
export function useTitle(editing, etag) {
  const last = useLastChange(editing, etag);
  return last ? t("merge.title", { name: actor(last) }) : t("merge.title.somebody");
}

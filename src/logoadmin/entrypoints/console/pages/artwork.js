/** One logo or theme, or a new one: its fields, its CSS, how the site will look with it, who made it, and its history. */
import { h, useState } from "../vendor/preact.js";
import { Judging, Verdict, useWidgets } from "../parts/artwork/artwork_form.js";
import { authorStep, createWith, knowAuthors } from "../parts/artwork/authorship.js";
import { KINDS } from "../records.js";
import { may } from "../session.js";
import { t, withTexts } from "../texts.js";
import { Button } from "../parts/primitives/basics.js";
import { lazy } from "../parts/primitives/lazy.js";
import { previewed } from "../parts/css/css_preview.js";
import { RecordHistory } from "../parts/history/record_history.js";
import { RecordPage } from "../parts/record/record_page.js";

/** @typedef {"logo" | "theme"} ArtworkKind */

const Blocked = lazy(withTexts(() => import("../parts/publication/blocked.js").then((module) => module.Blocked), "publication"));
const RecordState = lazy(withTexts(() => import("../parts/publication/record_state.js").then((module) => module.RecordState), "publication"));
const BlockDialog = lazy(withTexts(() => import("../parts/publication/block_dialog.js").then((module) => module.BlockDialog), "publication"));

/** @param {{kind: ArtworkKind, recordId: string | undefined}} props */
export function ArtworkPage({ kind, recordId }) {
  useWidgets(kind);
  const id = recordId === undefined ? undefined : Number(recordId);
  return h(RecordPage, {
    kind,
    recordId,
    list: `${kind}s`,
    newTitle: t(`${kind}s.new`),
    create: (values, all) => createWith(kind, values, all.authors ?? []),
    next: authorStep,
    actions: (editing) => id !== undefined && h(Block, { key: "block", kind, id, editing }),
    state: (editing) => may(KINDS[kind].write) && id !== undefined && (editing.record.value.active ? h(RecordState, { kind, id, record: editing.record.value }) : h(Blocked, { kind, editing })),
    preview: (form, record, again) => {
      const saved = String(record?.custom_css ?? "");
      const css = String(form.values.value["custom_css"] ?? "");
      return (css || saved) && h(Verdict, { kind, recordId: id, css, saved, changed: again });
    },
    aside: (form, record) => {
      const { custom_css: css = "", target = "", preview_url: picture = "" } = /** @type {Record<string, string>} */ (form.values.value);
      const copy = previewed.value?.kind === kind && previewed.value.id === id ? previewed.value : undefined;
      return h(Judging, { kind, id, css, saved: String(record?.custom_css ?? ""), copy, target, picture });
    },
    children: (/** @type {any} */ record) => {
      knowAuthors(record);
      return id !== undefined && record && h(RecordHistory, { kind, recordId: id, since: record });
    },
  });
}

/** Takes it from readers at once, which switching off does not. @param {{kind: ArtworkKind, id: number, editing: import("../parts/record/editing.js").Editing}} props */
function Block({ kind, id, editing }) {
  const [isAsking, setAsking] = useState(false);
  return [
    h(Button, { key: "button", tone: "danger", icon: "Ban", scope: KINDS[kind].write, idle: editing.isBusy.value, onClick: () => setAsking(true) }, t("block")),
    isAsking && h(BlockDialog, { key: "dialog", kind, id, editing, close: () => setAsking(false) }),
  ];
}

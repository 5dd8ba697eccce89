/** One logo or theme, or a new one: its fields, its CSS, how the site will look with it, who made it, and its history. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { Judging, Verdict } from "../parts/artwork/artwork_form.js";
import { isOnPage, OnPage } from "../parts/artwork/artwork_states.js";
import { knowAuthors, writeWith } from "../parts/artwork/authorship.js";
import { readStates, STATES, statesOf } from "../reader_states.js";
import { KINDS } from "../records.js";
import { may } from "../session.js";
import { t, withTexts } from "../texts.js";
import { MenuItem } from "../parts/primitives/action_menu.js";
import { lazy } from "../parts/primitives/basics.js";
import { Picture } from "../parts/primitives/picture.js";
import { RecordHistory } from "../parts/history/change_list.js";
import { RecordPage } from "../parts/record/record_page.js";

const Blocked = lazy(withTexts(() => import("../parts/publication/states.js").then((module) => module.Blocked), "publication"));
const RecordState = lazy(withTexts(() => import("../parts/publication/states.js").then((module) => module.RecordState), "publication"));
const BlockDialog = lazy(withTexts(() => import("../parts/publication/states.js").then((module) => module.BlockDialog), "publication"));

/** @param {{kind: ArtworkKind, params: Record<string, string>}} props */
export default function ArtworkPage({ kind, params }) {
  const recordId = params[`${kind}_id`];
  const [isBlocking, setBlocking] = useState(false);
  const id = recordId === undefined ? undefined : Number(recordId);
  return h(RecordPage, {
    kind,
    recordId,
    list: `${kind}s`,
    newTitle: t(`${kind}s.new`),
    write: writeWith,
    picture: (record) => h(Picture, { kind, url: record.preview_url }),
    states: (artwork) => h(State, { kind, artwork }),
    // Takes it from readers at once, which switching off does not.
    actions: (editing) => h(MenuItem, { tone: "danger", icon: "Ban", scope: KINDS[kind].write, idle: editing.isBusy.value, onClick: () => setBlocking(true) }, t("block")),
    state: (editing) => [
      may(KINDS[kind].write) && id !== undefined && h(Bands, { key: "state", kind, id, editing }),
      isBlocking && id !== undefined && h(BlockDialog, { key: "block", kind, editing, close: () => setBlocking(false) }),
    ],
    preview: (form, record) => {
      const saved = String(record?.custom_css ?? "");
      const css = String(form.values.value["custom_css"] ?? "");
      return (css || saved) && h(Verdict, { kind, recordId: id, css, set: (/** @type {string} */ text) => form.set("custom_css", text) });
    },
    aside: (form, record) => {
      const { custom_css: css = "", target = "", preview_url: picture = "" } = /** @type {Record<string, string>} */ (form.values.value);
      return h(Judging, { kind, id, css, saved: { css: String(record?.custom_css ?? ""), target: String(record?.target ?? "") }, target, picture });
    },
    children: (/** @type {any} */ record) => {
      knowAuthors(record);
      return id !== undefined && record && h(RecordHistory, { kind, recordId: id, since: record });
    },
  });
}

/** What to do about its state, which most do not need. @param {{kind: ArtworkKind, id: number, editing: Editing}} props */
function Bands({ kind, id, editing }) {
  const known = statesOf(kind, id);
  if (!editing.record.value.active) return known.blocked ? h(Blocked, { kind, editing }) : null;
  return known.left_out ? h(RecordState, { kind, id }) : null;
}

/** For readers. @param {{kind: ArtworkKind, artwork: any}} props */
function State({ kind, artwork }) {
  useEffect(() => void readStates(), [artwork]);
  const known = statesOf(kind, artwork[KINDS[kind].id]);
  const shown = STATES.filter((state) => known[state]);
  return [
    !known.blocked && h("span", { key: "active", class: artwork.active ? "state state-on" : "state" }, t(artwork.active ? "record.on" : "state.off")),
    shown.map((state) => h("span", { key: state, class: `state state-${state}` }, t(`state.${state}`))),
    isOnPage(kind, artwork) && h(OnPage, { key: "page", to: `${kind}s/${artwork[KINDS[kind].id]}` }),
  ];
}

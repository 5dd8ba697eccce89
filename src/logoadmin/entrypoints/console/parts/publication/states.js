/** That a record is blocked, why, and how that is lifted. */
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { Band, Button, rich, Time } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";
import { ReasonDialog } from "../primitives/form_dialog.js";

/** @param {{kind: "logo" | "theme", editing: Editing}} props An inactive one. */
export function Blocked({ kind, editing }) {
  const id = editing.record.value[KINDS[kind].id];
  const { write } = KINDS[kind];
  const [isAsking, setAsking] = useState(false);
  const { blocked: block } = statesOf(kind, id);
  if (!block) return null;
  const lift = async () => {
    if (await ask({ title: t("blocked.lift.ask", { name: editing.name }), text: t("blocked.lift.text", { reason: block.reason }), yes: t("blocked.lift.yes"), no: t("cancel") })) {
      await editing.write(() => call("patch", /** @type {any} */ (KINDS[kind].one), /** @type {any} */ ({ path: editing.path, body: { active: true, unblock: true } })), (name) => t("blocked.lifted", { name }));
    }
  };
  return [
    h(
      Band,
      {
        key: "band",
        icon: "Ban",
        tone: "danger",
        title: rich("blocked.since", { when: h(Time, { seconds: block.at }) }),
        actions: [
          h(Button, { key: "lift", icon: "Power", scope: write, busy: editing.isBusy.value, onClick: () => void lift() }, t("blocked.lift")),
          h(Button, { key: "amend", icon: "Pencil", scope: write, idle: editing.isBusy.value, onClick: () => setAsking(true) }, t("blocked.amend")),
        ],
      },
      h("p", { dir: "auto" }, block.reason),
      h("p", null, t("blocked.text")),
    ),
    isAsking && h(BlockDialog, { key: "dialog", kind, editing, reason: block.reason, close: () => setAsking(false) }),
  ];
}

/** The question before a record is blocked: why, and what that does. @param {{kind: ArtworkKind, editing: Editing, close: () => void, reason?: string}} props `reason` is that of a block that there is. */
export function BlockDialog({ kind, editing, close, reason: begin = "" }) {
  const { one } = KINDS[kind];
  const give = (/** @type {string} */ text) => {
    if (editing.isBusy.value) return;
    close();
    const body = { reason: text.replace(/\s*\n\s*/g, " ") };
    void editing.write(() => call("post", /** @type {any} */ (`${one}/block`), /** @type {any} */ ({ path: editing.path, body })), (name) => t("block.done", { name }));
  };
  return h(ReasonDialog, { title: t("block.ask", { name: editing.name }), label: t("decline.reason"), hint: t("block.hint"), yes: t("block"), most: 200, begin, give, close }, h("p", null, t("block.text")));
}

/** That sites do not get an active logo or theme: why, and what to do about it. @param {{kind: ArtworkKind, id: number}} props */
export function RecordState({ kind, id }) {
  const { left_out: leftOut } = statesOf(kind, id);
  return leftOut ? h(Band, { title: t(`about.left_out.${leftOut.code}`) }, h("p", null, t(`left_out.do.${leftOut.code}`))) : null;
}

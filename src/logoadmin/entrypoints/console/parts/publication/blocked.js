/** That a record is blocked, why, and how that is lifted. */
import { h, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { Band } from "../primitives/band.js";
import { Button, Time, rich } from "../primitives/basics.js";
import { BlockDialog } from "./block_dialog.js";
import { askToLift } from "./lift.js";

/** @type {Record<"logo" | "theme", (id: number) => Promise<import("../../client.js").Answer<any>>>} */
const ACTIVATE = {
  logo: (id) => call("patch", "/api/logos/{logo_id}", { path: { logo_id: id }, body: { active: true, unblock: true } }),
  theme: (id) => call("patch", "/api/themes/{theme_id}", { path: { theme_id: id }, body: { active: true, unblock: true } }),
};

/** @param {{kind: "logo" | "theme", editing: import("../record/editing.js").Editing}} props An inactive one. */
export function Blocked({ kind, editing }) {
  const id = editing.record.value[KINDS[kind].id];
  const { write } = KINDS[kind];
  const [isAsking, setAsking] = useState(false);
  const { blocked: block } = statesOf(kind, id);
  if (!block) return null;
  const lift = async () => {
    if (await askToLift(editing.name, block.reason)) {
      await editing.write(() => ACTIVATE[kind](id), (name) => t("blocked.lifted", { name }));
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
    isAsking && h(BlockDialog, { key: "dialog", kind, id, editing, reason: block.reason, close: () => setAsking(false) }),
  ];
}

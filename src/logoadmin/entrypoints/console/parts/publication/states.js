/** That a record is blocked, why, and how that is lifted. */
import { h, useId, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { problemOf } from "../../form.js";
import { statesOf } from "../../reader_states.js";
import { KINDS } from "../../records.js";
import { t } from "../../texts.js";
import { Band, Button, rich, Time } from "../primitives/basics.js";
import { ask, Dialog } from "../primitives/dialog.js";
import { About } from "../primitives/fields.js";

/** @type {Record<"logo" | "theme", (id: number) => Promise<Answer>>} */
const ACTIVATE = {
  logo: (id) => call("patch", "/api/logos/{logo_id}", { path: { logo_id: id }, body: { active: true, unblock: true } }),
  theme: (id) => call("patch", "/api/themes/{theme_id}", { path: { theme_id: id }, body: { active: true, unblock: true } }),
};

/** @param {{kind: "logo" | "theme", editing: Editing}} props An inactive one. */
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

/** As the service takes it. */
const REASON = { schema: { type: "string", minLength: 1, maxLength: 200 }, required: true, nullable: false, name: "reason", widget: /** @type {const} */ ("text") };
/** @type {Record<"logo" | "theme", (id: number, reason: string) => Promise<Answer>>} */
const BLOCK = {
  logo: (id, reason) => call("post", "/api/logos/{logo_id}/block", { path: { logo_id: id }, body: { reason } }),
  theme: (id, reason) => call("post", "/api/themes/{theme_id}/block", { path: { theme_id: id }, body: { reason } }),
};

/** The question before a record is blocked: why, and what that does. @param {{kind: "logo" | "theme", id: number, editing: Editing, close: () => void, reason?: string}} props `reason` is that of a block that there is. */
export function BlockDialog({ kind, id, editing, close, reason: before = "" }) {
  const field = useId();
  const [reason, setReason] = useState(before);
  const [problem, setProblem] = useState("");
  const submit = (/** @type {SubmitEvent} */ event) => {
    event.preventDefault();
    const text = reason.trim().replace(/\s*\n\s*/g, " ");
    const found = problemOf(REASON, text) ?? "";
    setProblem(found);
    if (found) return document.getElementById(field)?.focus();
    if (editing.isBusy.value) return undefined;
    close();
    void editing.write(() => BLOCK[kind](id, text), (name) => t("block.done", { name }));
    return undefined;
  };
  return h(Dialog, { title: t("block.ask", { name: editing.name }), close },
    h("p", null, t("block.text")),
    h("form", { class: "form", noValidate: true, onSubmit: submit },
      h("div", { class: "field" },
        h("label", { class: "label required", for: field }, t("block.reason")),
        h("textarea", {
          id: field,
          class: "input",
          rows: 3,
          dir: "auto",
          required: true,
          value: reason,
          "aria-invalid": Boolean(problem),
          "aria-describedby": `${field}-about`,
          onInput: (/** @type {InputEvent} */ event) => setReason(/** @type {HTMLTextAreaElement} */ (event.currentTarget).value),
        }),
        h(About, { id: `${field}-about`, problem, hint: t("block.hint") }),
      ),
      h("div", { class: "cluster dialog-actions" },
        h("button", { type: "button", class: "button plain", onClick: close }, t("cancel")),
        h(Button, { type: "submit", tone: "danger", icon: "Ban", busy: editing.isBusy.value }, t("block")),
      ),
    ),
  );
}

/** The question before a block is lifted: the record goes back to readers. @param {string} name @param {string} reason Of the block. @returns {Promise<boolean>} */
const askToLift = (name, reason) => ask({ title: t("blocked.lift.ask", { name }), text: t("blocked.lift.text", { reason }), yes: t("blocked.lift.yes"), no: t("cancel") });

/** That sites do not get an active logo or theme: why, and what to do about it. @param {{kind: "logo" | "theme", id: number}} props */
export function RecordState({ kind, id }) {
  const known = statesOf(kind, id);
  return known.left_out ? h(Band, { title: aboutState("left_out", known) }, h("p", null, t(`left_out.do.${known.left_out.code}`))) : null;
}

/** Why sites do not get a record, or what a reviewer should look at. @param {import("../../reader_states.js").State} state @param {import("../../reader_states.js").Known} known @returns {string} a sentence */
function aboutState(state, known) {
  if (state === "blocked") return known.blocked?.reason ?? "";
  if (state === "left_out" && known.left_out) return t(`about.left_out.${known.left_out.code}`);
  return t("about.risky");
}

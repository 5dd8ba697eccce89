/** The question before a record is blocked: why, and what that does. */
import { h, useId, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { problemOf } from "../../form.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { About } from "../primitives/fields.js";
import { Dialog } from "../primitives/dialog.js";

/** As the service takes it. */
const REASON = { schema: { type: "string", minLength: 1, maxLength: 200 }, required: true, nullable: false, name: "reason", widget: /** @type {const} */ ("text") };
/** @type {Record<"logo" | "theme", (id: number, reason: string) => Promise<import("../../client.js").Answer<any>>>} */
const BLOCK = {
  logo: (id, reason) => call("post", "/api/logos/{logo_id}/block", { path: { logo_id: id }, body: { reason } }),
  theme: (id, reason) => call("post", "/api/themes/{theme_id}/block", { path: { theme_id: id }, body: { reason } }),
};

/** @param {{kind: "logo" | "theme", id: number, editing: import("../record/editing.js").Editing, close: () => void, reason?: string}} props `reason` is that of a block that there is. */
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

/** The question why a submission is declined, with the reasons that one gave before. */
import { h, useId, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { problemOf } from "../../form.js";
import { me } from "../../session.js";
import { t } from "../../texts.js";
import { Button, useRead } from "../primitives/basics.js";
import { Dialog } from "../primitives/dialog.js";

/** As the service takes it. */
const REASON = { schema: { type: "string", minLength: 1, maxLength: 1000 }, required: true, nullable: false, name: "reason", widget: /** @type {const} */ ("text") };
/** The number of declined submissions in which they are looked for, and of reasons that are offered. */
const LATEST = 100;
const OFFERED = 5;

/** @param {AbortSignal} signal @returns {Promise<string[]>} the reasons that the user gave, the latest first */
async function earlierReasons(signal) {
  const { data } = await call("get", "/api/proposals", { query: { state: "declined", order: "desc", limit: LATEST }, signal });
  return [...new Set(data.flatMap((each) => (each.decided_by === me.value?.user_id && each.reason ? [each.reason] : [])))].slice(0, OFFERED);
}

/** @param {{title: string, begin?: string, decline: (reason: string) => void, close: () => void}} props `begin`: a reason to begin with. */
export function DeclineDialog({ title, begin = "", decline, close }) {
  const id = useId();
  const { data: earlier } = useRead(earlierReasons);
  const [reason, setReason] = useState(begin);
  const [problem, setProblem] = useState("");
  const field = useRef(/** @type {HTMLTextAreaElement | null} */ (null));
  const submit = (/** @type {Event} */ event) => {
    event.preventDefault();
    const found = problemOf(REASON, reason.trim()) ?? "";
    setProblem(found);
    if (found) return field.current?.focus();
    return decline(reason.trim());
  };
  const choose = (/** @type {string} */ text) => {
    setReason(text);
    setProblem("");
    // To be edited, or sent with Control and Enter; a phone would show its keyboard.
    const input = field.current;
    if (!input || matchMedia("(pointer: coarse)").matches) return;
    input.value = text;
    input.focus();
    input.setSelectionRange(text.length, text.length);
  };
  return h(Dialog, { title, close },
    h("form", { class: "form", noValidate: true, onSubmit: submit },
      h("div", { class: "field" },
        h("label", { class: "label required", for: id }, t("decline.reason")),
        h("textarea", {
          ref: field,
          id,
          class: "input",
          rows: 3,
          dir: "auto",
          required: true,
          value: reason,
          "aria-invalid": Boolean(problem),
          "aria-describedby": `${id}-about`,
          onInput: (/** @type {InputEvent} */ event) => setReason(/** @type {HTMLTextAreaElement} */ (event.currentTarget).value),
          onKeyDown: (/** @type {KeyboardEvent} */ event) => event.key === "Enter" && (event.ctrlKey || event.metaKey) && submit(event),
        }),
        h("div", { id: `${id}-about`, class: "field-about" }, problem && h("p", { class: "problem" }, problem), h("p", { class: "hint" }, t("decline.hint"))),
      ),
      earlier && earlier.length > 0 &&
        h("div", { class: "stack", role: "group", "aria-label": t("decline.earlier") },
          h("p", { class: "label" }, t("decline.earlier")),
          earlier.map((each) => h("button", { key: each, type: "button", class: "button plain earlier-reason", dir: "auto", onClick: () => choose(each) }, each)),
        ),
      h("div", { class: "cluster dialog-actions" },
        h("button", { type: "button", class: "button plain", onClick: close }, t("cancel")),
        h(Button, { type: "submit", tone: "danger" }, t("decline")),
      ),
    ),
  );
}

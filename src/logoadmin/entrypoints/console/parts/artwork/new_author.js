/** A new author, created in a dialog of the field where somebody was missing. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { call, Failure, versionIn } from "../../client.js";
import { FormState, fieldsOf, theInterface } from "../../form.js";
import { describe, sayDone } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { refreshList, upsert } from "../../records.js";
import { t } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Dialog } from "../primitives/dialog.js";
import { FormField } from "../primitives/fields.js";
import { knowAuthors } from "./authorship.js";

/** @typedef {import("../../records.js").Records["author"]} Author */
/** @typedef {import("../../client.js").Answer<Author>} Answer */

/** @param {{username: string, close: () => void, made: (authorId: number) => void}} props `username`: as typed in the field. */
export function NewAuthor({ username, close, made }) {
  const [form, setForm] = useState(/** @type {FormState | undefined} */ (undefined));
  const [complaint, setComplaint] = useState("");
  useEffect(() => {
    const begin = (/** @type {import("../../form.js").Interface} */ described) => setForm(new FormState(fieldsOf(described, "create_author", "author"), {}));
    theInterface().then(begin, (error) => setComplaint(describe(error)));
  }, []);
  useEffect(() => form?.set("username", username), [form]);
  return h(
    Dialog,
    { title: t("authors.new"), close },
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    form && h(Fields, { form, close, made, complain: setComplaint }),
  );
}

/** @param {{form: FormState, close: () => void, made: (authorId: number) => void, complain: (words: string) => void}} props */
function Fields({ form, close, made, complain }) {
  const element = useRef(/** @type {HTMLFormElement | null} */ (null));
  const [busy, setBusy] = useState(false);
  /** The request whose response was lost: sent again with the same values, it creates no second author. */
  const lost = useRef({ body: "", repeat: /** @type {(() => Promise<Answer>) | undefined} */ (undefined) });
  const problems = form.problems.value;
  const focus = (/** @type {string} */ selector) => /** @type {HTMLElement | null | undefined} */ (element.current?.querySelector(selector))?.focus();
  useEffect(() => focus('[aria-invalid="true"]'), [problems]);
  useEffect(() => focus("[name=user_id]"), []);
  const create = async () => {
    const body = JSON.stringify(form.whole);
    const repeat = lost.current.body === body ? lost.current.repeat : undefined;
    setBusy(true);
    complain("");
    try {
      const { data, etag, requestId } = await (repeat ?? (() => call("post", "/api/authors", { body: /** @type {any} */ (form.whole) })))();
      upsert("author", data, versionIn(etag));
      knowAuthors({ authors: [data] });
      sayDone(t("saved", { name: nameOf("author", data) }), [requestId], () => void refreshList("author"));
      made(data.author_id);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      lost.current = { body, repeat: /** @type {any} */ (error.repeat) };
      complain(error.kind === "invalid" ? form.take(error.problems).join("\n") : describe(error));
      setBusy(false);
    }
  };
  return h(
    "form",
    {
      ref: element,
      class: "form",
      noValidate: true,
      // The form of the record, which is around it, is not submitted.
      onSubmit: (/** @type {SubmitEvent} */ event) => {
        event.preventDefault();
        event.stopPropagation();
        if (!busy && form.check()) void create();
      },
      onKeyDown: (/** @type {KeyboardEvent} */ event) => {
        if (!(event.ctrlKey || event.metaKey) || event.code !== "KeyS") return;
        event.preventDefault();
        event.stopPropagation();
        element.current?.requestSubmit();
      },
    },
    form.fields.map((field) => h(FormField, { key: field.name, form, field })),
    h(
      "div",
      { class: "cluster dialog-actions" },
      h(Button, { onClick: close }, t("cancel")),
      h(Button, { type: "submit", tone: "primary", busy }, t("authors.create")),
    ),
  );
}

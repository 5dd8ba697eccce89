/** A new author, created in a dialog of the field where somebody was missing. */
import { h } from "../../vendor/preact.js";
import { call, versionIn } from "../../client.js";
import { sayDone } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { refreshList, upsert } from "../../records.js";
import { t } from "../../texts.js";
import { FormDialog } from "../primitives/form_dialog.js";
import { knowAuthors } from "./authorship.js";

/** @param {{username: string, close: () => void, made: (authorId: number) => void}} props `username`: as typed in the field. */
export const NewAuthor = ({ username, close, made }) =>
  h(FormDialog, {
    title: t("authors.new"),
    operation: "create_author",
    kind: "author",
    fields: ["username", "user_id"],
    typed: { username },
    yes: t("authors.create"),
    send: (body) => call("post", "/api/authors", { body }),
    made: ({ data, etag, requestId }) => {
      upsert("author", data, versionIn(etag));
      knowAuthors({ authors: [data] });
      sayDone(t("saved", { name: nameOf("author", data) }), [requestId], () => void refreshList("author"));
      made(data.author_id);
    },
    close,
  });

/** What a member proposes: a new logo or theme, or a change of one of theirs. */
import { h } from "../vendor/preact.js";
import { call } from "../client.js";
import { say } from "../notices.js";
import { nameOf } from "../presentation.js";
import { isUnsaved, leaving, navigate, path, query, setQuery } from "../router.js";
import { t } from "../texts.js";
import { Breadcrumbs, Segmented, ViewHead } from "../parts/primitives/basics.js";
import { ProposalForm } from "../parts/proposals/proposal_form.js";

/** @param {{params: Record<string, string>, kind?: ArtworkKind}} props */
export default function Submit({ params, kind }) {
  const id = kind && params[`${kind}_id`];
  if (kind && id) {
    const title = t(`submit.${kind}.set`);
    return h("div", { class: "view" }, h(Breadcrumbs, { list: "works", title: t("works.title"), name: title }), h(ViewHead, { title }), h(Form, { kind, id: Number(id) }));
  }
  const chosen = query("kind") === "theme" ? "theme" : "logo";
  const choose = async (/** @type {ArtworkKind} */ each) => {
    // Each has its own form; a work that was saved has its own page.
    if (isUnsaved() && !((await leaving.ask()) && path.value === "submit")) return;
    setQuery({ kind: each === "logo" ? "" : each });
  };
  return h("div", { class: "view" },
    h(ViewHead, { title: t("submit.title.long") },
      h(Segmented, { label: t("submit.kind"), choices: [["logo", t("logo.title")], ["theme", t("theme.title")]], chosen, choose }),
    ),
    h("p", { class: "hint" }, t("submit.about")),
    h(Form, { key: chosen, kind: chosen }),
  );
}

/** @param {{kind: ArtworkKind, id?: number}} props */
function Form({ kind, id }) {
  /** @type {import("../parts/proposals/proposal_form.js").Send} */
  const send = async (values, { record, version, form }) => {
    const change = record ? { kind, id, version, set: values } : { kind, create: values };
    const title = nameOf(kind, { ...record, ...values });
    const body = { title: [...title].slice(0, 200).join(""), note: String(form.values.value["note"] ?? ""), changes: [change] };
    return call("post", "/api/proposals", { body: /** @type {any} */ (body) });
  };
  const sent = async (/** @type {Answer} */ { data }) => {
    say(t("submit.done"));
    await navigate(`submissions/${data.proposal_id}`, { replace: true });
  };
  return h(ProposalForm, { kind, ...(id === undefined ? {} : { id }), does: t("submit.review"), send, sent });
}

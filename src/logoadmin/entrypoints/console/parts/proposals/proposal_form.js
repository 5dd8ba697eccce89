/** The form of a record whose values are proposed or mended instead of saved (contract R4). */
import { h, useState } from "../../vendor/preact.js";
import { versionIn } from "../../client.js";
import { fieldsOf, FormState, theInterface } from "../../form.js";
import { describe } from "../../notices.js";
import { flat, nested, withDetails } from "../../presentation.js";
import { readOne } from "../../records.js";
import { readShared, shared } from "../../shared_settings.js";
import { t } from "../../texts.js";
import { Judging, PictureSource, Verdict } from "../artwork/artwork_form.js";
import { atFields, knowAuthors } from "../artwork/authorship.js";
import { Button, Icon, Pending } from "../primitives/basics.js";
import { useOffer, useRead, useSend } from "../primitives/hooks.js";
import { RecordForm, Select, Text, widgets, words } from "../primitives/fields.js";
import { ownPicture, Picture } from "../primitives/picture.js";

/**
 * @typedef {object} Props
 * @property {ProposableKind} kind
 * @property {number} [id] None for a new record.
 * @property {ProposedChange} [change] The earlier proposal.
 * @property {string} [note]
 * @property {boolean} [isReviewed] Whether somebody with the right changes it, who may set every field.
 * @property {string} does The words of the button.
 * @property {Send} send
 * @property {(answer: Answer) => Promise<unknown>} sent Follows.
 *
 * @typedef {(values: Record<string, unknown>, opened: Opened) => Promise<Answer>} Send
 */

/** @param {Props} props */
export function ProposalForm(props) {
  const { data: opened, failure, again } = useRead((stop) => openForm(props, stop), [props.kind, props.id]);
  // A service that was away for a moment does not begin the input again.
  const [first, setFirst] = useState(/** @type {Opened | undefined} */ (undefined));
  if (opened && !first) setFirst(opened);
  if (!first) return h(Pending, { failure, again });
  const renewed = async () => {
    const newer = await openForm(props, new AbortController().signal);
    first.form.rebase(newer.begin);
    setFirst({ ...newer, form: first.form });
  };
  return h(Fields, { ...props, opened: first, renewed });
}

/** @param {Props & {opened: Opened, renewed: () => Promise<void>}} props `renewed` reads the record again. */
function Fields({ kind, opened, change, isReviewed, does, send, sent, renewed }) {
  const { form, record } = opened;
  const [complaint, setComplaint] = useState("");
  const isArtwork = kind !== "author";
  knowAuthors(record);
  const { custom_css: css = "", target = "", preview_url: picture = "" } = /** @type {Record<string, string>} */ (form.values.value);
  const saved = String(record?.custom_css ?? "");
  const isIdle = record !== undefined && Object.keys(valuesOf(opened)).length === 0;
  const failed = async (/** @type {Failure} */ failure) => {
    if (failure.kind === "invalid") setComplaint(form.take(atFields(failure.problems)).join("\n"));
    else if (failure.kind === "tooLarge") form.tooLarge();
    else if (failure.kind === "outdated") {
      await renewed().catch(() => undefined);
      setComplaint(t("submit.outdated"));
    } else if (failure.passes) offer.make(failure, () => void save());
    else setComplaint(/^\d+ proposals of this user wait/.test(failure.detail) ? t("submit.many") : describe(failure));
  };
  const once = useSend(failed);
  const offer = useOffer();
  const save = async () => {
    if (isIdle) return;
    setComplaint("");
    offer.withdraw();
    const values = form.values.value;
    await once.send(values, () => send(valuesOf(opened), opened), (answer) => {
      form.base.value = values;
      return sent(answer);
    });
  };
  return [
    complaint && h("p", { key: "complaint", class: "complaint", role: "alert", dir: "auto" }, complaint),
    h("div", { key: "form", class: isArtwork ? "editor" : "view narrow" },
      kind !== "author" && !isReviewed && h(Rules, { kind }),
      h("div", { class: "form-column" },
        h(RecordForm, { form, save, isNew: record === undefined && !change },
          isArtwork && (css || saved) && h(Verdict, { kind, recordId: undefined, css, set: (/** @type {string} */ text) => form.set("custom_css", text) }),
          h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", busy: once.busy !== "", idle: isIdle }, does)),
        ),
      ),
      isArtwork && h("div", { class: "editor-aside" }, h(Judging, { kind, id: undefined, css, saved: { css: saved, target }, target, picture })),
    ),
  ];
}

/** @typedef {"logo" | "theme" | "author"} ProposableKind */
/** @typedef {{record: any, version: number | undefined, form: FormState, begin: any, now: import("../../form.js").Values}} Opened `begin`: the record as it was proposed, and `now` as it is, in the form. */

/** A few words to the reviewer, which belong to the proposal and not to the record. @type {Field} */
const NOTE = { name: "note", schema: { type: "string", maxLength: 2000 }, required: false, nullable: false, widget: "text area", isLink: true };
/** Applied artworks are active, and submitters are the authors themselves. */
const LEFT_OUT = { reviewer: ["active"], submitter: ["active", "authors", "user_id", "details.origin"] };

/** The values of a proposed change, between the form of a record and the interface (contract R1). @param {Props} props @param {AbortSignal} stop @returns {Promise<Opened>} the form with the proposed values */
async function openForm({ kind, id, change, note = "", isReviewed }, stop) {
  const isMembers = !isReviewed && kind !== "author";
  const [described, answer] = await Promise.all([
    theInterface(),
    id === undefined ? undefined : readOne(kind, id, { signal: stop }),
    isMembers && readShared(stop),
  ]);
  const record = answer?.data;
  const all = fieldsOf(described, `${id === undefined ? "create" : "amend"}_${kind}`, kind)
    .filter(({ name: field }) => !LEFT_OUT[isReviewed ? "reviewer" : "submitter"].includes(field))
    .map(({ isLink: _, ...field }) => field);
  const fields = isMembers ? forSubmitters(all) : all;
  if (!isReviewed) fields.push(NOTE);
  const given = isMembers && id === undefined ? { target: onlyTarget() } : {};
  const proposed = /** @type {any} */ (change?.set ?? change?.create ?? {});
  const authorIds = proposed.author_ids ?? (change?.create && change.after?.["author_ids"]);
  const authors = authorIds && authorIds.map((/** @type {number} */ authorId) => ({ author_id: authorId }));
  const begin = { ...withDetails({ ...given, ...record, ...proposed, details: record?.details }, proposed.details), ...(authors ? { authors } : {}), note };
  const now = new FormState(fields, { ...given, ...record, note }).base.value;
  return { record, version: answer && versionIn(answer.etag), form: new FormState(fields, begin, kind), begin, now };
}

/** @param {Opened} opened @returns {Record<string, unknown>} the values as the interface wants them; without any, there is nothing to propose */
function valuesOf({ record, form, now }) {
  const { authors, ...values } = record ? form.changedFrom(now) : form.whole;
  return authors === undefined ? values : { ...values, author_ids: authors };
}

/** @param {ProposedChange} change @param {FormState} form @param {Record<string, unknown>} values Of the form. @returns {Record<string, unknown>} the values with those that the form has no field for */
export function withRest({ set, create }, form, values) {
  const shown = ["author_ids", ...form.fields.map(({ name }) => name)];
  const rest = Object.entries(flat(set ?? create ?? {})).filter(([name]) => !shown.includes(name) || (name === "author_ids" && !form.fields.some((field) => field.name === "authors")));
  return nested({ ...Object.fromEntries(rest), ...flat(values) });
}

/** @param {ProposedChange} change @returns {any} as it is sent again */
export const asSent = ({ kind, id, version, set, block, remove, create }) =>
  create ? { kind, create } : { kind, id, version, ...(remove ? { remove } : block ? { block } : { set }) };

/** The fields in sight, in their order; the CSS of a logo is written from its picture. */
const FIRST = ["preview_url", "name", "target", "details.description", "details.licence", "details.tags", "custom_css"];
/** @type {Record<string, import("../../presentation.js").Widget>} */
const WIDGETS = { preview_url: "drop", target: "choice" };
Object.assign(widgets, { drop: PictureDrop, choice: TargetChoice });

/** The form as submitters see it: it begins with the picture, and the target is chosen among those of the gallery. @param {Field[]} fields Of an artwork. @returns {Field[]} as submitters see them */
function forSubmitters(fields) {
  const rank = (/** @type {string} */ name) => (FIRST.includes(name) ? FIRST.indexOf(name) : FIRST.length);
  return fields.map((field) => ({ ...field, widget: WIDGETS[field.name] ?? field.widget, isRare: !FIRST.includes(field.name) })).toSorted((a, b) => rank(a.name) - rank(b.name));
}

/** @returns {string | undefined} the only target there is, which nobody has to choose */
function onlyTarget() {
  const [first, ...others] = Object.keys(shared.value?.gallery_targets ?? {});
  return others.length === 0 ? first : undefined;
}

/** A large place for the picture, which takes files that are dropped anywhere on the form. @param {WidgetProps} props */
function PictureDrop(props) {
  const { form, field, describedBy, disabled } = props;
  const url = String(form.values.value[field.name] ?? "");
  const isOwn = ownPicture(url) !== undefined;
  const [isGiven, setGiven] = useState(url !== "");
  return h("div", { class: "picture-drop", role: "group", "aria-label": words(field.name, "label"), "aria-describedby": describedBy },
    url ? h(Picture, { key: url, url }) : h(Icon, { name: "Image" }),
    h(PictureSource, { value: url, set: (/** @type {string} */ kept) => form.set(field.name, kept), disabled, within: "form" }),
    !isOwn && (isGiven ? h(Text, props) : h(Button, { tone: "quiet", onClick: () => setGiven(true) }, t("submit.picture.address"))),
  );
}

/** @param {WidgetProps} props */
function TargetChoice(props) {
  const value = String(props.form.values.value[props.field.name] ?? "");
  const described = Object.entries(shared.value?.gallery_targets ?? {}).map(([name, target]) => [name, String(/** @type {any} */ (target).name)]);
  const Otherwise = widgets.target ?? Text;
  if (described.length === 0) return h(Otherwise, props);
  // Any host may be one as well: that of a user style, or of an earlier version.
  const offered = described.some(([name]) => name === value) ? described : [[value, value || t("submit.target.choose")], ...described];
  return h(Select, props, offered.map(([name, label]) => h("option", { key: name, value: name }, label)));
}

/** What the gallery asks of submissions, and of their pictures. @param {{kind: "logo" | "theme"}} props */
export const Rules = ({ kind }) =>
  h("details", { class: "box panel submit-rules", open: matchMedia("(width >= 68.75rem)").matches },
    h("summary", null, t("submit.rules")),
    shared.value?.submission_rules && h("p", { class: "rules", dir: "auto" }, shared.value.submission_rules),
    h("p", { class: "hint" }, t("submit.pictures")),
    h("p", { class: "hint" }, t(`submit.pictures.${kind}`)),
  );

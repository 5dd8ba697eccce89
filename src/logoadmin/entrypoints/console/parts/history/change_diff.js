/** The effect of a change, field by field: the old and the new values. */
import { h, useState } from "../../vendor/preact.js";
import { call, returned } from "../../client.js";
import { describe, sayDone } from "../../notices.js";
import { flat, nameOf, nested } from "../../presentation.js";
import { fieldsOfChange } from "./changes.js";
import { KINDS, listOf, readList } from "../../records.js";
import { words as rightWords } from "../../scopes.js";
import { targetName, useShared } from "../../shared_settings.js";
import { enumeration, t } from "../../texts.js";
import { Button, lazy, pictureUrl, Skeleton, Time } from "../primitives/basics.js";
import { useLists, useRun } from "../primitives/hooks.js";
import { authorName } from "../artwork/authorship.js";
import { authorIds } from "./words.js";
import { words } from "../primitives/fields.js";
import { Picture } from "../primitives/picture.js";

const Diff = lazy(() => import("../diff/diff.js").then((module) => module.Diff), () => h(Skeleton, {}));

/** @typedef {{before: string, after: string}} Labels The names of the sides, for screen readers. */

/** @param {{change: Change} & Partial<Labels>} props */
export function ChangeDiff({ change, before = t("change.before"), after = t("change.after") }) {
  const names = fieldsOfChange(change);
  const shown = { ...change, before: flat(change.before), after: flat(change.after) };
  if (names.length === 0) return h("p", { class: "hint" }, t("change.nothing"));
  return h("dl", { class: "stack loose fields" },
    names.map((name) =>
      h("div", { key: name, class: "fields-row" }, h("dt", null, words(name, "label")), h("dd", null, h(Difference, { name, change: shown, labels: { before, after } }))),
    ),
  );
}

/** @param {{name: string, change: Change, labels: Labels}} props */
function Difference({ name, change, labels }) {
  const [before, after] = [change.before, change.after].map((snapshot) => snapshot?.[name]);
  if (isLong(name, before) || isLong(name, after)) {
    return h(Diff, { before: String(before ?? ""), after: String(after ?? ""), label: words(name, "label") });
  }
  if (Array.isArray(before) || Array.isArray(after)) return h(Members, { name, before: members(name, before), after: members(name, after) });
  return h("div", { class: "was-is" },
    change.before !== null && h("del", null, h("span", { class: "hidden" }, `${labels.before}: `), h(Value, { name, value: before })),
    change.before !== null && change.after !== null && h("span", { class: "arrow", "aria-hidden": true }, "→"),
    change.after !== null && h("ins", null, h("span", { class: "hidden" }, `${labels.after}: `), h(Value, { name, value: after })),
  );
}

/** @param {string} name @param {unknown} value @returns {boolean} whether it is read line by line */
const isLong = (name, value) => ["custom_css", "details.text", "details.description"].includes(name) || (typeof value === "string" && value.includes("\n"));

/** @param {string} name @param {unknown} list @returns {string[]} */
export function members(name, list) {
  if (!Array.isArray(list)) return [];
  if (name === "scope") return list.map(rightWords);
  if (list.some((each) => each?.author_id !== undefined)) return authorIds(list).map(authorName);
  return list.map((each) => (each?.url ? [each.url, each.alt].filter(Boolean).join(" ") : String(each)));
}

/** The entries that a list gained and lost. @param {{name: string, before: string[], after: string[]}} props */
function Members({ name, before, after }) {
  const gone = before.filter((each) => !after.includes(each));
  const come = after.filter((each) => !before.includes(each));
  if (gone.length + come.length === 0) {
    return h("div", { class: "was-is" }, h("del", { dir: "auto" }, enumeration(before)), h("span", { class: "arrow" }, "→"), h("ins", { dir: "auto" }, enumeration(after)));
  }
  return h("ul", { class: "members", "aria-label": words(name, "label") },
    gone.map((each) => h("li", { key: `- ${each}` }, h("del", { dir: "auto" }, h("span", { class: "sign" }, "− "), h(Value, { name, value: each })))),
    come.map((each) => h("li", { key: `+ ${each}` }, h("ins", { dir: "auto" }, h("span", { class: "sign" }, "+ "), h(Value, { name, value: each })))),
  );
}

/** @param {{name: string, value: unknown}} props */
export function Value({ name, value }) {
  if (value === null || value === undefined || value === "") return h("span", { class: "none" }, t("none"));
  if (name.endsWith("_at") && typeof value === "number") return h(Time, { seconds: value });
  if (name === "role_id") {
    const role = listOf("role").value.records?.find((each) => each.role_id === value);
    return h("bdi", null, role?.name ?? String(value));
  }
  if (name === "target") return h(Target, { id: String(value) });
  if (typeof value === "boolean") return t(value ? "yes" : "no");
  // A screenshot is its address, and what it shows.
  const [url = "", ...alt] = String(value).split(" ");
  if (["preview_url", "details.screenshots"].includes(name) && pictureUrl(url)) {
    return h("span", { class: "stack tight was-picture" }, h(Picture, { url }), h("span", { dir: "auto" }, alt.join(" ") || url));
  }
  return h("bdi", null, String(value));
}

/** @param {{id: string}} props */
function Target({ id }) {
  useShared();
  return h("bdi", null, targetName(id));
}

const VersionPreviews = lazy(() => import("../css/css_preview.js").then((module) => module.VersionPreviews));
/** Fields that a change of the record does not set. */
const UNSET = ["created_at", "blocked", "pins"];

/** A version of a record beside what the record is now: what differs, how both look, and the way back. @param {{kind: KindName, change: Change, now: Change}} props */
export function AgainstNow({ kind, change, now }) {
  const [complaint, setComplaint] = useState("");
  const { busy, run } = useRun({ failed: (failure) => setComplaint(describe(failure)) });
  useLists("author", "role");
  const { after: then } = change;
  const difference = { ...now, before: then, after: now.after };
  if (!then || !now.after) return h("p", { class: "hint" }, t("version.gone"));
  if (fieldsOfChange(difference).length === 0) return h("p", { class: "hint" }, t("version.same"));
  const set = setBack(difference);
  const restore = () => {
    setComplaint("");
    return call("post", "/api/changes", { body: { changes: [/** @type {any} */ ({ kind, id: now.id, version: now.change_id, set })] } });
  };
  const done = () => {
    void readList(kind);
    returned.value += 1;
  };
  const restored = (/** @type {Answer} */ { requestId }) => {
    sayDone(t("restored", { name: nameOf(kind, then) }), [requestId], done);
    done();
  };
  return h("div", { class: "stack loose" },
    h(ChangeDiff, { change: difference, before: t("version.then"), after: t("version.now") }),
    (kind === "logo" || kind === "theme") && h(VersionPreviews, { kind, then, now: now.after }),
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    h("div", { class: "cluster" }, h(Button, { icon: "Undo2", scope: KINDS[kind].write, busy: busy !== "", idle: Object.keys(set).length === 0, onClick: () => void run(restore, restored) }, t("version.restore"))),
  );
}

/** @param {Change} difference From how the record was to how it is. @returns {Record<string, any>} what differs, as a bulk change takes it */
function setBack(difference) {
  const was = flat(difference.before) ?? {};
  const fields = fieldsOfChange(difference).filter((name) => !UNSET.includes(name));
  return nested(Object.fromEntries(fields.map((name) => (name === "authors" ? ["author_ids", authorIds(was["authors"])] : [name, was[name] ?? null]))));
}

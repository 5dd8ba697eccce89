/** The fields of what an artwork says of itself (contract S1). */
import { h, useId, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { LICENCES, LONGEST_TAG, MOST_TAGS, tagsIn, tagsOf } from "../../presentation.js";
import { listOf } from "../../records.js";
import { t, withTexts } from "../../texts.js";
import { IconButton, lazy, Pending, Segmented, UNAIDED } from "../primitives/basics.js";
import { useRead } from "../primitives/hooks.js";
import { Area, Text, widgets, words } from "../primitives/fields.js";

Object.assign(widgets, {
  paragraph: Paragraph,
  markdown: Markdown,
  licence: Licence,
  tags: Tags,
  fixed: Fixed,
  screenshots: lazy(withTexts(() => import("../pictures/picture_source.js").then((module) => module.Screenshots))),
});

/** A text without line breaks, and its length. @param {WidgetProps} props */
function Paragraph(props) {
  const { form, field } = props;
  const length = [...String(form.values.value[field.name] ?? "")].length;
  return h("div", { class: "stack tight" },
    h(Area, { ...props, rows: 2, isLine: true }),
    !props.disabled && h("span", { class: "hint counted" }, t("area.count", { n: length, most: field.schema.maxLength ?? 0 })),
  );
}

/** A text in CommonMark, as it is written or as readers see it. @param {WidgetProps} props */
function Markdown(props) {
  const [look, setLook] = useState("write");
  const text = String(props.form.values.value[props.field.name] ?? "");
  return h("div", { class: "stack" },
    h(Segmented, { label: words(props.field.name, "label"), choices: [["write", t("area.write")], ["preview", t("preview")]], chosen: look, choose: setLook }),
    look === "preview" ? h(Rendered, { text }) : h(Area, { ...props, rows: 8 }),
  );
}

/** @param {WidgetProps} props */
function Licence(props) {
  const list = `${props.id}-known`;
  return [h(Text, { key: "text", ...props, list }), h("datalist", { key: "known", id: list }, LICENCES.map((each) => h("option", { key: each, value: each })))];
}

/** What only an import sets: there to be read. @param {WidgetProps} props */
function Fixed({ form, field, id, describedBy }) {
  return h("input", { id, class: "input", readOnly: true, value: String(form.values.value[field.name] ?? ""), "aria-describedby": describedBy });
}

/** Tags as chips: Enter or a comma adds one, Backspace takes the last one away. @param {WidgetProps} props */
function Tags({ form, field, id, describedBy, disabled }) {
  const tags = /** @type {string[]} */ (form.values.value[field.name]);
  const [text, setText] = useState("");
  const [said, setSaid] = useState("");
  const input = useRef(/** @type {HTMLInputElement | null} */ (null));
  const list = useId();
  const known = tagsOf([...(listOf("logo").value.records ?? []), ...(listOf("theme").value.records ?? [])]).filter((tag) => !tags.includes(tag));
  const add = (/** @type {string} */ typed) => {
    const all = [...new Set([...tags, ...tagsIn(typed)])].slice(0, MOST_TAGS);
    setText("");
    if (all.length === tags.length) return;
    setSaid(t("tags.added", { tag: all.slice(tags.length).join(", ") }));
    form.set(field.name, all);
  };
  const take = (/** @type {string} */ tag) => {
    setSaid(t("tags.taken", { tag }));
    form.set(field.name, tags.filter((each) => each !== tag));
    input.current?.focus();
  };
  const pressed = (/** @type {KeyboardEvent} */ event) => {
    const last = tags.at(-1);
    if (event.isComposing) return;
    // What is saved by a key has the tag that is being typed.
    if ((event.ctrlKey || event.metaKey) && event.code === "KeyS") return add(text);
    if (event.key === "Enter" && text) add(text);
    else if (event.key === "Backspace" && !text && last !== undefined) take(last);
    else return;
    event.preventDefault();
  };
  const typed = (/** @type {InputEvent} */ event) => {
    const { value } = /** @type {HTMLInputElement} */ (event.currentTarget);
    // A tag that is chosen from the list arrives whole.
    if (value.includes(",") || (event.inputType === "insertReplacementText" && known.includes(value))) add(value);
    else setText(value);
  };
  return h("div", { class: "tags input", "data-disabled": disabled },
    tags.length > 0 &&
      h("ul", { class: "cluster", "aria-label": words(field.name, "label") },
        tags.map((tag) => h("li", { key: tag, class: "tag" }, h("bdi", null, tag), !disabled && h(IconButton, { icon: "X", label: t("tags.take", { tag }), onClick: () => take(tag) }))),
      ),
    h("input", {
      id,
      ref: input,
      list,
      ...UNAIDED,
      maxLength: (LONGEST_TAG + 1) * MOST_TAGS,
      value: text,
      disabled: disabled || tags.length >= MOST_TAGS,
      "aria-invalid": Boolean(form.problems.value[field.name]),
      "aria-describedby": describedBy,
      onInput: typed,
      onKeyDown: pressed,
      onBlur: () => add(text),
    }),
    h("datalist", { id: list }, known.map((tag) => h("option", { key: tag, value: tag }))),
    h("p", { class: "hidden", role: "status" }, said),
  );
}

const ELEMENTS = ["a", "blockquote", "br", "code", "em", "h3", "h4", "h5", "h6", "hr", "li", "ol", "p", "pre", "strong", "ul"];
const VOID = ["br", "hr"];
const TOKEN = /<(\/?)([a-z][a-z0-9]*)((?:\s+[a-z]+="[^"<>]*")*)\s*\/?>|[^<]+|</g;
/** @type {Record<string, string>} */
const ENTITIES = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"' };

/** @param {string} text @returns {string} */
const unescaped = (text) => text.replace(/&(?:amp|lt|gt|quot);/g, (entity) => ENTITIES[entity] ?? entity);

/** @param {string} tag @param {string} text The attributes as they are written. @returns {Record<string, string>} those that are kept */
function attributesOf(tag, text) {
  const given = new Map([...text.matchAll(/([a-z]+)="([^"]*)"/g)].map(([, name = "", value = ""]) => [name, unescaped(value)]));
  const href = given.get("href") ?? "";
  if (tag === "a" && /^(?:https?|mailto):/i.test(href)) return { href, target: "_blank", rel: "nofollow ugc noopener noreferrer" };
  const start = given.get("start");
  return { ...(given.has("dir") ? { dir: "auto" } : {}), ...(tag === "ol" && start ? { start } : {}) };
}

/** * The text of an artwork as readers see it (contract S1). The service renders it, and its HTML is built here element by element: the page's policy takes no HTML as text, and what is not named here stays text. @param {string} html @returns {any[]} the nodes that it describes */
export function nodesOf(html) {
  /** @type {{tag: string, attributes: Record<string, string>, children: any[]}[]} */
  const open = [{ tag: "", attributes: {}, children: [] }];
  const add = (/** @type {any} */ node) => void open.at(-1)?.children.push(node);
  for (const [token, slash, tag = "", attributes = ""] of html.matchAll(TOKEN)) {
    if (!ELEMENTS.includes(tag)) add(unescaped(token));
    else if (VOID.includes(tag)) add(h(tag, null));
    else if (!slash) open.push({ tag, attributes: attributesOf(tag, attributes), children: [] });
    else if (open.at(-1)?.tag === tag) {
      const { attributes: kept, children } = /** @type {typeof open[number]} */ (open.pop());
      add(h(tag, kept, ...children));
    }
  }
  return open.flatMap(({ children }) => children);
}

/** @param {{text: string}} props */
function Rendered({ text }) {
  const { data, failure, again } = useRead(async (signal) => (await call("post", "/api/text/render", { body: { text }, signal })).data.html, [text]);
  if (data === undefined) return h(Pending, { failure, again });
  return h("div", { class: "box panel rendered" }, text.trim() ? nodesOf(data) : h("p", { class: "hint" }, t("none")));
}

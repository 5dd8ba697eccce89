/**
 * The text of an artwork as readers see it (contract S1). The service renders it, and its HTML is built here element by
 * element: the page's policy takes no HTML as text, and what is not named here stays text.
 */
import { h } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { t } from "../../texts.js";
import { Skeleton, Unread } from "../primitives/basics.js";
import { useRead } from "../primitives/use_read.js";

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

/** @param {string} html @returns {any[]} the nodes that it describes */
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
export function Rendered({ text }) {
  const { data, failure, again } = useRead(async (signal) => (await call("post", "/api/text/render", { body: { text }, signal })).data.html, [text]);
  if (data === undefined) return failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {});
  return h("div", { class: "box panel rendered" }, text.trim() ? nodesOf(data) : h("p", { class: "hint" }, t("none")));
}

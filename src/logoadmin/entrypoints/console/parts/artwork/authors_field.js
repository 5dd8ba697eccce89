/** Who made a logo or theme: found by a part of the name, and put in order. */
import { h, useEffect, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { call, returned, versionIn } from "../../client.js";
import { sayDone } from "../../notices.js";
import { nameOf, searchForm } from "../../presentation.js";
import { KINDS, listOf, readList, upsert } from "../../records.js";
import { may } from "../../session.js";
import { byName, t } from "../../texts.js";
import { Button, OrderButtons, UNAIDED } from "../primitives/basics.js";
import { useEvents } from "../primitives/hooks.js";
import { FormDialog } from "../primitives/form_dialog.js";
import { authorName, isAuthorGone, knowAuthors } from "./authorship.js";

/** The number of authors offered at once; typing more narrows them down. */
const MOST = 8;

/** @param {WidgetProps} props */
export function AuthorsField({ form, field, id, describedBy, disabled }) {
  const chosen = /** @type {number[]} */ (form.values.value[field.name] ?? []);
  const [said, setSaid] = useState("");
  const list = useRef(/** @type {HTMLOListElement | null} */ (null));
  /** Where focus goes once it is drawn: the button of an author, or the field. @type {{current: string | undefined}} */
  const next = useRef(undefined);
  const read = () => void readList("author");
  useEffect(read, [returned.value]);
  // In another tab, one may have made who was missing here.
  useEvents(window, "focus", read);
  useLayoutEffect(() => {
    if (next.current === undefined) return;
    const wanted = next.current;
    next.current = undefined;
    const found = list.current?.querySelector(`${wanted}:not(:disabled)`) ?? document.getElementById(id);
    if (found instanceof HTMLElement) found.focus();
  });
  /** @param {number[]} to @param {string} words @param {string} focus */
  const become = (to, words, focus) => {
    next.current = focus;
    setSaid(words);
    form.set(field.name, to);
  };
  /** @param {number} at @param {number} by */
  const move = (at, by) => {
    const authorId = chosen[at];
    if (authorId === undefined || chosen[at + by] === undefined) return;
    const rest = chosen.filter((each) => each !== authorId);
    const to = [...rest.slice(0, at + by), authorId, ...rest.slice(at + by)];
    const isEnd = at + by === 0 || at + by === to.length - 1;
    const button = isEnd ? (by < 0 ? "down" : "up") : by < 0 ? "up" : "down";
    become(to, t("authors.moved", { name: authorName(authorId), at: at + by + 1, of: to.length }), `[data-author="${authorId}"] .${button}`);
  };
  /** @param {number} at */
  const take = (at) => {
    const authorId = chosen[at] ?? 0;
    const to = chosen.filter((each) => each !== authorId);
    const beside = to[Math.min(at, to.length - 1)];
    become(to, t("authors.taken", { name: authorName(authorId) }), beside === undefined ? ".none" : `[data-author="${beside}"] .take`);
  };
  return h("div", { class: "stack" },
    chosen.length > 0 &&
      h("ol", { ref: list, class: "box divided authors-chosen", "aria-label": t("authors.chosen") },
        chosen.map((authorId, at) => h(Chosen, { key: authorId, authorId, at, count: chosen.length, disabled, move, take })),
      ),
    !disabled &&
      h(Combobox, {
        id,
        describedBy,
        invalid: Boolean(form.problems.value[field.name]),
        chosen,
        choose: (authorId) => {
          setSaid(t("authors.added", { name: authorName(authorId) }));
          form.set(field.name, [...chosen, authorId]);
        },
      }),
    disabled && chosen.length === 0 && h("p", { class: "hint" }, t("authors.nobody")),
    h("p", { class: "hidden", role: "status" }, said),
  );
}

/** @param {{authorId: number, at: number, count: number, disabled: boolean, move: (at: number, by: number) => void, take: (at: number) => void}} props */
function Chosen({ authorId, at, count, disabled, move, take }) {
  const name = authorName(authorId);
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    const by = { ArrowUp: -1, ArrowDown: 1 }[event.key];
    if (disabled) return;
    if (by !== undefined && !event.ctrlKey && !event.metaKey) move(at, by);
    else if (event.key === "Delete") take(at);
    else return;
    event.preventDefault();
  };
  return h("li", { class: "author-chosen", "data-author": authorId, onKeyDown: pressed },
    h("span", { class: "author-name" }, h("bdi", null, name), isAuthorGone(authorId) && h("span", { class: "tag" }, t("authors.isGone"))),
    !disabled && h(OrderButtons, { label: (what) => t(`authors.${what}`, { name }), at, count, move: (by) => move(at, by), take: () => take(at) }),
  );
}

/** A field that offers authors whose names contain the text. @param {{id: string, describedBy: string, invalid: boolean, chosen: number[], choose: (authorId: number) => void}} props */
function Combobox({ id, describedBy, invalid, chosen, choose }) {
  const [text, setText] = useState("");
  const [isOpen, setOpen] = useState(false);
  const [active, setActive] = useState(0);
  const [isMaking, setMaking] = useState(false);
  const listId = useId();
  const { records } = listOf("author").value;
  const found = (records ?? [])
    .filter((author) => !chosen.includes(author.author_id) && searchForm(author.username).includes(searchForm(text.trim())))
    .toSorted((a, b) => Number(starts(b, text)) - Number(starts(a, text)) || byName(a.username, b.username));
  const offered = found.slice(0, MOST);
  const at = Math.min(active, offered.length - 1);
  const canMake = records !== undefined && found.length === 0 && may(KINDS.author.write);
  const take = (/** @type {number} */ authorId) => {
    choose(authorId);
    setText("");
    setActive(0);
    setOpen(false);
    setMaking(false);
  };
  const make = () => {
    // It gets the focus back from the dialog.
    document.getElementById(id)?.focus();
    setOpen(false);
    setMaking(true);
  };
  /** @param {number} index */
  const pick = (index) => {
    const author = offered[index];
    if (author) take(author.author_id);
    else if (canMake && text.trim()) make();
  };
  /** @param {KeyboardEvent} event */
  const pressed = (event) => {
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const by = event.key === "ArrowDown" ? 1 : -1;
      setActive(isOpen ? (at + by + offered.length) % Math.max(1, offered.length) : 0);
      setOpen(true);
    } else if (event.key === "Enter" && isOpen) pick(at);
    else if (event.key === "Enter" && text) setOpen(true);
    else if (event.key === "Escape" && (isOpen || text)) {
      if (!isOpen) setText("");
      setOpen(false);
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  const combobox = h(
    "div",
    { key: "combobox", class: "combobox", onFocusOut: (event) => leaves(event) && setOpen(false) },
    h("input", {
      id,
      class: "input",
      role: "combobox",
      type: "text",
      value: text,
      placeholder: t("authors.find"),
      ...UNAIDED,
      "aria-autocomplete": "list",
      "aria-expanded": isOpen,
      "aria-controls": listId,
      "aria-activedescendant": isOpen && offered[at] ? `${listId}-${at}` : undefined,
      "aria-describedby": describedBy,
      "aria-invalid": invalid,
      onInput: (event) => {
        setText(event.currentTarget.value);
        setActive(0);
        setOpen(true);
      },
      onClick: () => setOpen(true),
      onKeyDown: pressed,
    }),
    h("div", { class: "box offers", hidden: !isOpen },
      h("ul", { id: listId, role: "listbox", "aria-label": t("field.authors") },
        isOpen &&
          offered.map((author, index) =>
            h(
              "li",
              {
                key: author.author_id,
                id: `${listId}-${index}`,
                role: "option",
                class: "offer",
                "aria-selected": index === at,
                onMouseDown: (/** @type {MouseEvent} */ event) => event.preventDefault(),
                onClick: () => pick(index),
              },
              h("bdi", null, nameOf("author", author)),
              h("span", { class: "hint" }, String(author.user_id)),
            ),
          ),
      ),
      isOpen && h("p", { class: "hint offers-rest", role: "status" }, rest(found.length, records !== undefined)),
      isOpen && canMake && h(Button, { tone: "quiet", icon: "UserPlus", onClick: make }, text.trim() ? t("authors.make", { name: text.trim() }) : t("authors.new")),
    ),
  );
  return [combobox, isMaking && h(NewAuthor, { key: "new", username: text.trim(), close: () => setMaking(false), made: take })];
}

/** @param {FocusEvent} event */
const leaves = (event) => !(event.relatedTarget instanceof Node && /** @type {Element} */ (event.currentTarget).contains(event.relatedTarget));

/** @param {{username: string}} author @param {string} text */
const starts = ({ username }, text) => searchForm(username).startsWith(searchForm(text.trim()));

/** @param {number} count @param {boolean} isRead */
function rest(count, isRead) {
  if (!isRead) return t("loading");
  if (count === 0) return t("none.found");
  return count > MOST ? t("authors.more", { n: count - MOST }) : t("found", { n: count });
}

/** A new author, created in a dialog of the field where somebody was missing. @param {{username: string, close: () => void, made: (authorId: number) => void}} props `username`: as typed in the field. */
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
      sayDone(t("saved", { name: nameOf("author", data) }), [requestId], () => void readList("author"));
      made(data.author_id);
    },
    close,
  });

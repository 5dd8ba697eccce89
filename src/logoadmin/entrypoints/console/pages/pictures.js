/** The pictures that the gallery keeps: how large each is, who sent it, and what names it (contract P4, P5). */
import { h, useEffect, useRef } from "../vendor/preact.js";
import { call } from "../client.js";
import { say } from "../notices.js";
import { nameOf as nameOfRecord } from "../presentation.js";
import { isListed, KINDS, listOf, readList } from "../records.js";
import { t } from "../texts.js";
import { Breadcrumbs, Button, EmptyState, Link, Skeleton, Time, ViewHead } from "../parts/primitives/basics.js";
import { useRun } from "../parts/primitives/hooks.js";
import { ask } from "../parts/primitives/dialog.js";
import { Picture } from "../parts/primitives/picture.js";
import { size } from "../parts/primitives/files.js";
import { usePages } from "../parts/primitives/pages.js";

const PAGE = 200;
/** The views of what names pictures. */
const VIEWS = /** @type {const} */ ({ logo: "logos", theme: "themes", user: "users", proposal: "submissions", settings: "settings" });
const TITLES = /** @type {const} */ ({ settings: "settings.title", logo: "logo.title", theme: "theme.title", user: "user.title", proposal: "submission.title" });

export default function Pictures() {
  const title = t("settings.pictures");
  return h("div", { class: "view narrow" }, h(Breadcrumbs, { list: "settings", title: t("settings.title"), name: title }), h(ViewHead, { title }), h(List, {}));
}

function List() {
  const { busy, run } = useRun();
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const { records, more, unread, forget } = usePages(async (/** @type {Schemas["KeptPicture"] | undefined} */ last, signal) =>
    call("get", "/api/pictures", { query: { limit: PAGE, ...(last && { after: last.picture }) }, signal }),
  );
  const kinds = [...new Set(records?.flatMap((kept) => kept.named_by.map(({ kind }) => kind)))].filter(isListed);
  useEffect(() => kinds.forEach(readList), [kinds.join(" ")]);
  if (!records) return unread ?? h(Skeleton, {});
  if (records.length === 0) return unread ?? h(EmptyState, { title: t("settings.pictures.none") });
  /** @param {Schemas["KeptPicture"]} kept */
  const remove = async (kept) => {
    const { picture } = kept;
    const sure = { title: t("settings.pictures.remove.title"), text: t("settings.pictures.remove.text"), list: kept.named_by.map(nameOf), yes: t("settings.pictures.remove"), no: t("cancel") };
    if (!(await ask({ ...sure, tone: "danger" }))) return;
    const removed = () => {
      say(t("settings.pictures.removed"));
      list.current?.focus();
      forget(kept);
    };
    await run(() => call("delete", "/api/pictures/{picture}", { path: { picture } }), removed, picture);
  };
  return [
    h("p", { key: "about", class: "hint" }, t("settings.pictures.text")),
    h("ul", { key: "list", ref: list, tabIndex: -1, class: "box divided rows", "aria-label": t("settings.pictures") },
      records.map((kept) => h(Row, { key: kept.picture, kept, busy: busy === kept.picture, remove: () => void remove(kept) })),
    ),
    unread,
    more && h("div", { key: "more", class: "cluster list-more" }, more),
  ];
}

/** @param {Schemas["KeptPicture"]["named_by"][number]} named @returns {string} its name, or its number while the name is unknown */
function nameOf({ kind, id }) {
  const record = isListed(kind) && listOf(kind).value.records?.find((each) => /** @type {any} */ (each)[KINDS[kind].id] === id);
  return [t(TITLES[/** @type {keyof typeof TITLES} */ (kind)]), record ? nameOfRecord(/** @type {any} */ (kind), record) : kind !== "settings" && id].filter(Boolean).join(" ");
}

/** @param {Schemas["KeptPicture"]["named_by"][number]} named @returns {string} the path of its view */
const pathOf = ({ kind, id }) => [VIEWS[/** @type {keyof typeof VIEWS} */ (kind)], kind !== "settings" && id].filter(Boolean).join("/");

/** @param {{kept: Schemas["KeptPicture"], busy: boolean, remove: () => void}} props */
function Row({ kept, busy, remove }) {
  const { url, width, height, size: bytes, sent_at: at, user_id: userId, user_name: name } = kept;
  const about = `${size(bytes)} · ${width} × ${height}`;
  return h("li", { class: "spread row" },
    h("span", { class: "submission-picture" }, h(Picture, { url })),
    h("div", { class: "stack tight row-text" },
      h("p", { class: "row-name" }, about),
      h("p", { class: "hint" }, userId !== null && [h(Link, { key: "who", to: `users/${userId}`, dir: "auto" }, name ?? t("who.number", { id: String(userId) })), ", "], h(Time, { seconds: at })),
      h("p", { class: "cluster" }, kept.named_by.map((named) => h(Link, { key: pathOf(named), to: pathOf(named) }, nameOf(named)))),
      kept.named_by.length === 0 && h("p", { class: "hint" }, t(kept.in_history ? "settings.pictures.history" : "settings.pictures.unnamed")),
    ),
    h(Button, { scope: "*", busy, onClick: remove }, t("settings.pictures.remove"), h("span", { class: "hidden" }, `: ${about}`)),
  );
}

/** The pictures that the gallery keeps: how large each is, who sent it, and what names it (contract P4, P5). */
import { h, useRef, useState } from "../vendor/preact.js";
import { call } from "../client.js";
import { say } from "../notices.js";
import { t } from "../texts.js";
import { Breadcrumbs, Button, EmptyState, Link, Skeleton, Time, Unread, useRead, useRun, ViewHead } from "../parts/primitives/basics.js";
import { ask } from "../parts/primitives/dialog.js";
import { Picture } from "../parts/primitives/picture.js";
import { size } from "../parts/primitives/files.js";

/** @typedef {import("logoadmin/api").components["schemas"]["KeptPicture"]} KeptPicture */

const PAGE = 200;
/** The views of what names pictures. */
const VIEWS = /** @type {const} */ ({ logo: "logos", theme: "themes", user: "users", proposal: "submissions", settings: "settings" });
const TITLES = /** @type {const} */ ({ settings: "settings.title", logo: "logo.title", theme: "theme.title", user: "user.title", proposal: "submission.title" });

export default function Pictures() {
  const title = t("settings.pictures");
  return h("div", { class: "view narrow" }, h(Breadcrumbs, { list: "settings", title: t("settings.title"), name: title }), h(ViewHead, { title }), h(List, {}));
}

function List() {
  // Everything on earlier pages.
  const [before, setBefore] = useState(/** @type {KeptPicture[]} */ ([]));
  const { busy, run } = useRun();
  const list = useRef(/** @type {HTMLUListElement | null} */ (null));
  const { data, failure, again } = useRead(async (signal) => {
    const after = before.at(-1)?.picture;
    const page = await call("get", "/api/pictures", { query: { limit: PAGE, ...(after && { after }) }, signal });
    return { pictures: [...before, ...page.data], hasMore: page.next !== "" };
  }, [before]);
  const unread = failure && h(Unread, { failure, again: () => void again() });
  if (!data) return unread ?? h(Skeleton, {});
  if (data.pictures.length === 0) return unread ?? h(EmptyState, { title: t("settings.pictures.none") });
  /** @param {KeptPicture} kept */
  const remove = async (kept) => {
    await call("delete", "/api/pictures/{picture}", { path: { picture: kept.picture } });
    say(t("settings.pictures.removed"));
    list.current?.focus();
    setBefore((known) => known.filter(({ picture }) => picture !== kept.picture));
  };
  /** @param {KeptPicture} kept */
  const asked = async (kept) => {
    const names = kept.named_by.map(nameOf);
    const sure = { title: t("settings.pictures.remove.title"), text: t("settings.pictures.remove.text"), list: names, yes: t("settings.pictures.remove"), no: t("cancel") };
    if (await ask({ ...sure, tone: "danger" })) await run(() => remove(kept), kept.picture);
  };
  return [
    h("p", { key: "about", class: "hint" }, t("settings.pictures.text")),
    h("ul", { key: "list", ref: list, tabIndex: -1, class: "box divided rows", "aria-label": t("settings.pictures") },
      data.pictures.map((kept) => h(Row, { key: kept.picture, kept, busy: busy === kept.picture, remove: () => void asked(kept) })),
    ),
    unread,
    data.hasMore && h("div", { key: "more", class: "cluster list-more" }, h(Button, { onClick: () => setBefore(data.pictures) }, t("list.more"))),
  ];
}

/** @param {KeptPicture["named_by"][number]} named @returns {string} */
const nameOf = ({ kind, id }) => [t(TITLES[/** @type {keyof typeof TITLES} */ (kind)]), kind !== "settings" && id].filter(Boolean).join(" ");

/** @param {KeptPicture["named_by"][number]} named @returns {string} the path of its view */
const pathOf = ({ kind, id }) => [VIEWS[/** @type {keyof typeof VIEWS} */ (kind)], kind !== "settings" && id].filter(Boolean).join("/");

/** @param {{kept: KeptPicture, busy: boolean, remove: () => void}} props */
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
    h(Button, { tone: "danger", scope: "*", busy, onClick: remove }, t("settings.pictures.remove"), h("span", { class: "hidden" }, `: ${about}`)),
  );
}

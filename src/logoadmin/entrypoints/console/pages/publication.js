/** What readers get of the gallery, and what they do not get, with the reason. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { call, ROOT } from "../client.js";
import { nameOf } from "../presentation.js";
import { KINDS, listOf, refreshList } from "../records.js";
import { t } from "../texts.js";
import { Button, Link, Skeleton, Time, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Copy } from "../parts/primitives/copy.js";
import { useRead } from "../parts/primitives/use_read.js";

/** @typedef {import("logoadmin/api").components["schemas"]["PublicationStatus"]} Status */
/** @typedef {{kind: string, id: number, name?: string}} Named */

const kinds = /** @type {const} */ (["logo", "theme"]);
/** As the service writes that the imports are still to be fetched. */
const WAITING = "An imported style sheet was not fetched yet";
/** So many records are listed at first. */
const SHOWN = 50;
const ADDRESS = new URL("gallery/latest.json", ROOT).href;

export default function Publication() {
  const { data, failure, again } = useRead(async (signal) => (await call("get", "/api/publication", { signal })).data);
  return h(
    "div",
    { class: "view narrow" },
    h(ViewHead, { title: t("publication.title") }, data && h(Button, { icon: "RefreshCw", onClick: () => void again() }, t("publication.again"))),
    data ? h(Everything, { data }) : failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {}),
  );
}

/** @param {{data: Status}} props */
function Everything({ data: { version, left_out: leftOut, changed, blocked } }) {
  useEffect(() => {
    // Their names, where they are still there.
    for (const kind of kinds) if (blocked.some((each) => each.kind === kind)) void refreshList(kind);
  }, [blocked]);
  return h(
    "div",
    { class: "sections" },
    h(
      "section",
      { class: "section stack loose" },
      h("h2", null, t("publication.version", { id: String(version) })),
      h("p", { class: "hint" }, t("publication.where")),
      h("div", { class: "spread" }, h("a", { class: "host-name", href: ADDRESS, target: "_blank", rel: "noreferrer" }, ADDRESS), h(Copy, { text: ADDRESS })),
    ),
    h(Some, { of: "left", list: leftOut.map((each) => ({ ...each, about: h("p", { dir: "auto" }, each.reason === WAITING ? t("imports.waiting") : each.reason) })) }),
    h(Some, { of: "changed", list: changed.map((each) => ({ ...each, about: h("bdi", { class: "host-name" }, each.url) })) }),
    h(Some, { of: "blocked", list: blocked.map((each) => ({ ...each, about: [h("p", { key: "why", dir: "auto" }, each.reason), h("p", { key: "when", class: "hint" }, h(Time, { seconds: each.at }))] })) }),
  );
}

/** Records, each with a remark. @param {{of: "left" | "changed" | "blocked", list: (Named & {about: any})[]}} props */
function Some({ of, list }) {
  const [most, setMost] = useState(SHOWN);
  return h(
    "section",
    { class: "section stack loose" },
    h("h2", null, t(`publication.${of}`)),
    h("p", { class: "hint" }, t(list.length > 0 ? `publication.${of}.text` : `publication.${of}.none`)),
    list.length > 0 &&
      h(
        "ul",
        { class: "box divided", "aria-label": t(`publication.${of}`) },
        list.slice(0, most).map((each, at) => h("li", { key: at, class: "stack tight row" }, h(Name, each), each.about)),
      ),
    list.length > most && h(Button, { onClick: () => setMost(most * 10) }, t("list.more")),
  );
}

/** @param {Named} props */
function Name({ kind: itsKind, id, name }) {
  const kind = itsKind === "logo" ? "logo" : "theme";
  const record = listOf(kind).value.records?.find((/** @type {any} */ each) => each[KINDS[kind].id] === id) ?? (name ? { name, [KINDS[kind].id]: id } : undefined);
  const words = `${t(`${kind}.title`)} ${id}`;
  return h("div", { class: "spread" }, h(Link, { to: `${kind}s/${id}`, class: "row-name", dir: "auto" }, record ? nameOf(kind, record) : words), record && h("span", { class: "hint" }, words));
}

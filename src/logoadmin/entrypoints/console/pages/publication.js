/** What readers get of the gallery, and what they do not get, with the reason. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { call } from "../client.js";
import { status } from "../reader_states.js";
import { refreshList } from "../records.js";
import { day, enumeration, t } from "../texts.js";
import { Button, Skeleton, Time, Unread, ViewHead, rich } from "../parts/primitives/basics.js";
import { Copy } from "../parts/primitives/copy.js";
import { Railed } from "../parts/primitives/railed.js";
import { useRead } from "../parts/primitives/use_read.js";
import { ADDRESS, readLatest } from "../parts/publication/latest.js";
import { LeftOutGroups } from "../parts/publication/left_out.js";
import { Named } from "../parts/publication/named.js";

/** @typedef {import("logoadmin/api").components["schemas"]["PublicationStatus"]} Status */
/** @typedef {import("../parts/publication/latest.js").Latest} Latest */

const kinds = /** @type {const} */ (["logo", "theme"]);
/** The number of records listed at first. */
const SHOWN = 50;

export default function Publication() {
  const { data, failure, again } = useRead(async (signal) => {
    const found = (await call("get", "/api/publication", { signal })).data;
    status.value = found;
    return { status: found, latest: await readLatest(found.version) };
  });
  return h(
    "div",
    { class: "view narrow" },
    h(ViewHead, { title: t("publication.title") }, data && h(Now, { latest: data.latest, again })),
    data ? h(Everything, { ...data, again: () => void again() }) : failure ? h(Unread, { failure, again: () => void again() }) : h(Skeleton, {}),
  );
}

/** The service publishes in the background; this waits for it. @param {{latest: Latest | undefined, again: () => Promise<void>}} props */
function Now({ latest, again }) {
  const [isBusy, setBusy] = useState(false);
  const act = async () => {
    setBusy(true);
    await again();
    setBusy(false);
  };
  return h(Button, { icon: "RefreshCw", busy: isBusy, onClick: () => void act() }, t(latest ? "publication.now" : "publication.again"));
}

/** @param {{status: Status, latest: Latest | undefined, again: () => void}} props */
function Everything({ status: { version, logos, themes, left_out: leftOut, changed, risky, blocked }, latest, again }) {
  useEffect(() => {
    // Their names, where they are still there.
    for (const kind of kinds) if (blocked.some((each) => each.kind === kind)) void refreshList(kind);
  }, [blocked]);
  return h(
    Railed,
    null,
    h(
      "section",
      { class: "section stack loose" },
      h("h2", null, t("publication.version", { id: String(version) })),
      h("p", null, t("publication.have", { what: enumeration([t("publication.logos", { n: logos }), t("publication.themes", { n: themes })]) })),
      latest && h(Times, { latest, version }),
      h("p", { class: "hint" }, t("publication.where")),
      h("div", { class: "spread" }, h("a", { class: "host-name", href: ADDRESS.href, target: "_blank", rel: "noreferrer" }, ADDRESS.href), h(Copy, { text: ADDRESS.href })),
    ),
    h(
      "section",
      { class: "section stack loose" },
      h("h2", null, t("publication.left")),
      h("p", { class: "hint" }, t(leftOut.length > 0 ? "publication.left.text" : "publication.left.none")),
      h(LeftOutGroups, { list: leftOut, again }),
    ),
    h(Some, { of: "changed", list: changed.map((each) => ({ ...each, about: h("bdi", { class: "host-name" }, each.url) })) }),
    h(Some, { of: "risky", list: risky.map((each) => ({ ...each, about: h("p", { class: "hint" }, each.risks.map((risk) => t(`verdict.${risk}`)).join(" ")) })) }),
    h(Some, { of: "blocked", list: blocked.map((each) => ({ ...each, about: [h("p", { key: "why", dir: "auto" }, each.reason), h("p", { key: "when", class: "hint" }, h(Time, { seconds: each.at }))] })) }),
  );
}

/** @param {{latest: Latest, version: number}} props */
function Times({ latest, version }) {
  return [
    h("p", { key: "times", class: "hint" }, rich("publication.times", { issued: h(Time, { seconds: latest.issued }) }, { expires: day(latest.expires) })),
    latest.version < version && h("p", { key: "behind", class: "remark" }, t("publication.behind", { id: String(latest.version) })),
  ];
}

/** Records, each with a remark. @param {{of: "changed" | "risky" | "blocked", list: {kind: string, id: number, name?: string, about: any}[]}} props */
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
        list.slice(0, most).map((each, at) => h("li", { key: at, class: "stack tight row" }, h(Named, each), each.about)),
      ),
    list.length > most && h(Button, { onClick: () => setMost(most * 10) }, t("list.more")),
  );
}

/** Where one begins: what somebody should look at, what happened lately, and how much there is of what. */
import { h, useEffect, useState } from "../vendor/preact.js";
import { countBetween, lastDays } from "../parts/overview/activity.js";
import { readPage } from "../parts/history/changes.js";
import { returned } from "../client.js";
import { readStates } from "../reader_states.js";
import { queue, reviews } from "../proposals.js";
import { KINDS, abandonReads, listOf, readList } from "../records.js";
import { may } from "../session.js";
import { byName, number, t } from "../texts.js";
import { Button, Link, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Attention, GALLERY } from "../parts/overview/attention.js";
import { ChangeList } from "../parts/history/change_list.js";
import { Welcome } from "../parts/overview/welcome.js";
import { useRead } from "../parts/primitives/use_read.js";
import { Plot } from "../parts/overview/plot.js";

/** @typedef {import("../records.js").KindName} KindName */

/** @type {Partial<Record<KindName, string>>} What one must hold to see them at all. */
const SCOPES = { user: "users:read", role: "roles:read" };
const DAYS = 30;
const LATEST = 8;
const LARGEST = 6;

export default function Overview() {
  const kinds = /** @type {KindName[]} */ (Object.keys(KINDS)).filter((kind) => !SCOPES[kind] || may(SCOPES[kind]));
  useEffect(() => {
    for (const kind of kinds) void readList(kind);
    void readStates();
  }, [returned.value, kinds.join()]);
  // What waits comes first, also where nothing was applied yet.
  const isEmpty = GALLERY.every((kind) => listOf(kind).value.records?.length === 0) && (!reviews() || queue.value.proposals?.length === 0);
  return h(
    "div",
    { class: "view" },
    h(ViewHead, { title: t(isEmpty ? "welcome.title" : "overview.title") }),
    isEmpty ? h(Welcome, {}) : h(Everything, { kinds }),
  );
}

/** @param {{kinds: KindName[]}} props The kinds that the person may see. */
function Everything({ kinds }) {
  return h(
    "div",
    { class: "overview" },
    h(
      "div",
      { class: "overview-part" },
      h(Section, { title: t("overview.attention") }, h(Attention, {})),
      may("changes:read") && h(Section, { title: t("overview.latest") }, h(Latest, {})),
    ),
    h(
      "div",
      { class: "overview-part" },
      h(Section, { title: t("overview.gallery") }, h("ul", { class: "counts" }, kinds.map((kind) => h(Count, { key: kind, kind })))),
      may("changes:read") && h(Section, { title: t("overview.activity") }, h(Activity, {})),
      h(Section, { title: t("overview.targets") }, h(Targets, {})),
    ),
  );
}

/** @param {{title: string, children?: any}} props */
function Section({ title, children }) {
  return h("section", { class: "stack loose" }, h("h2", null, title), children);
}

/** @param {{kind: KindName}} props */
function Count({ kind }) {
  const { records } = listOf(kind).value;
  const known = records ? number(records.length) : "–";
  return h(
    "li",
    { class: "count" },
    h(Link, { to: `${kind}s`, class: "box count-link" }, h("span", { class: "count-number" }, known), h("span", null, t(`overview.${kind}s`, { n: records?.length ?? 0 }))),
  );
}

/** How many logos and themes each part of the site has, the largest first, and how many of them it shows. */
function Targets() {
  const [isWhole, setWhole] = useState(false);
  const logos = listOf("logo").value;
  const themes = listOf("theme").value;
  const failure = logos.failure ?? themes.failure;
  const again = () => {
    abandonReads("logo", "theme");
    void Promise.all([readList("logo"), readList("theme")]);
  };
  if (!logos.records || !themes.records) return failure ? h(Unread, { failure, again }) : h(Skeleton, {});
  const rows = byTarget(logos.records, themes.records);
  const columns = /** @type {const} */ (["logo", "theme"]);
  if (rows.length === 0) return h("p", { class: "hint" }, t("overview.empty"), " ", columns.some((kind) => may(KINDS[kind].write)) && h(Link, { to: "import" }, t("overview.import")));
  const shown = isWhole ? rows : rows.slice(0, LARGEST);
  return [
    h(
      "div",
      { key: "table", class: "box table-frame", role: "region", "aria-label": t("overview.targets"), tabIndex: 0 },
      h(
        "table",
        { class: "table targets" },
        h("thead", null, h("tr", null, h("th", { scope: "col" }, t("field.target")), columns.map((kind) => h("th", { key: kind, scope: "col", class: "number" }, t(`kinds.${kind}`))))),
        h(
          "tbody",
          null,
          shown.map((row) => h("tr", { key: row.target }, h("th", { scope: "row" }, h("bdi", null, row.target)), columns.map((kind) => h("td", { key: kind, class: "number" }, h(Shown, { kind, target: row.target, records: row[kind] }))))),
        ),
      ),
    ),
    rows.length > shown.length && h(Button, { key: "all", onClick: () => setWhole(true) }, t("overview.all", { n: rows.length })),
  ];
}

/** @typedef {{active: boolean, target: string}} Artwork */

/** @param {Artwork[]} logos @param {Artwork[]} themes */
function byTarget(logos, themes) {
  /** @type {Map<string, {target: string, logo: Artwork[], theme: Artwork[]}>} */
  const rows = new Map();
  const rowOf = (/** @type {string} */ target) => {
    const row = rows.get(target) ?? { target, logo: [], theme: [] };
    rows.set(target, row);
    return row;
  };
  for (const each of logos) rowOf(each.target).logo.push(each);
  for (const each of themes) rowOf(each.target).theme.push(each);
  const size = (/** @type {{logo: Artwork[], theme: Artwork[]}} */ { logo, theme }) => logo.length + theme.length;
  return [...rows.values()].sort((a, b) => size(b) - size(a) || byName(a.target, b.target));
}

/** Each number leads to what it counts. @param {{kind: "logo" | "theme", target: string, records: {active: boolean}[]}} props */
function Shown({ kind, target, records }) {
  const inactive = records.filter((each) => !each.active).length;
  const to = `${kind}s?target=${encodeURIComponent(target)}`;
  if (records.length === 0) return number(0);
  return [
    h(Link, { key: "all", to }, number(records.length)),
    inactive > 0 && h(Link, { key: "inactive", to: `${to}&active=no`, class: "aside" }, t("overview.inactive", { n: inactive })),
  ];
}

function Activity() {
  const { data, failure, again } = useRead(async (signal) => {
    const days = lastDays(DAYS);
    const counts = await countBetween(days, signal);
    return counts.map((count, at) => ({ seconds: days[at] ?? 0, count }));
  });
  if (data) return h("div", { class: "box panel" }, h(Plot, { bars: data, title: t("overview.days", { n: DAYS }) }));
  return failure ? h(Unread, { failure, again }) : h(Skeleton, {});
}

function Latest() {
  const { data, failure, again } = useRead((signal) => readPage({}, 0, { size: 2 * LATEST, signal }));
  if (!data) return failure ? h(Unread, { failure, again }) : h(Skeleton, {});
  return [
    h(ChangeList, { key: "list", groups: data.groups.slice(0, LATEST), undone: again, label: t("overview.latest") }),
    h(Link, { key: "all", to: "history" }, t("overview.history")),
  ];
}

/** All logos, or all themes: found by a part of the name, filtered, seen as cards or as a table, changed one or many. */
import { h, useEffect, useMemo } from "../vendor/preact.js";
import { returned, trouble } from "../client.js";
import { say } from "../notices.js";
import { readStates, STATES, statesOf, status } from "../reader_states.js";
import { namesOf, searchForm, tagsOf } from "../presentation.js";
import { KINDS, leaveTrail, listOf, readList } from "../records.js";
import { prefer, preferred } from "../preferences.js";
import { query, setQuery } from "../router.js";
import { may } from "../session.js";
import { byName, language, t, withTexts } from "../texts.js";
import { ArtworkGrid } from "../parts/artwork/artwork_grid.js";
import { Icon, lazy, NewRecord, NoRecords, Pending, Segmented, Skeleton, ViewHead } from "../parts/primitives/basics.js";
import { useEvents, useLists, useLook } from "../parts/primitives/hooks.js";
import { ManyBar, useSelection, work } from "../parts/lists/selection.js";
import { inOrder, orderChoice, Search, Toolbar } from "../parts/lists/toolbar.js";

/** Where the chosen look is kept: a phone has its own. @param {ArtworkKind} kind */
const lookOf = (kind) => `look.${kind}s${matchMedia("(width < 50rem)").matches ? ".small" : ""}`;

/** @typedef {Records["logo"] | Records["theme"]} Artwork */

const FILTERS = { q: "", target: "", tag: "", active: "", author: "", state: "", host: "", changed: "" };
/** Within how many days a record has changed. */
const DAYS = /** @type {const} */ (["1", "7", "30", "365"]);

/** @param {{kind: ArtworkKind}} props */
export default function Artworks({ kind }) {
  const { records, failure } = listOf(kind).value;
  const again = useLists(kind);
  useEffect(() => void readStates(), [records, returned.value]);
  const found = useFound(kind, records);
  useSync(kind, work.value !== undefined);
  leaveTrail(kind, found);
  const selection = useSelection(KINDS[kind].id, found);
  const look = query("look", preferred(lookOf(kind), ["grid", "table"]));
  const props = { kind, artworks: found ?? [], selection };
  return h("div", { class: "view" },
    h(ViewHead, { title: t(`${kind}s.title`) }, h(NewRecord, { kind })),
    h(Filters, { kind, records }, h(Looks, { kind, look })),
    h(ManyBar, { kind, artworks: found, selection, acts: LazyActs }),
    !records && h(Pending, { failure, again }),
    found?.length === 0 && h(NoRecords, { kind, icon: kind === "logo" ? "Image" : "Palette", clear: records?.length || filtering() ? () => setQuery(FILTERS) : undefined }),
    found && found.length > 0 && (look === "table" ? h(LazyTable, props) : h(ArtworkGrid, props)),
  );
}

/** What the choices in the address leave of the records, in their order. @param {ArtworkKind} kind @param {Artwork[] | undefined} records @returns {any[] | undefined} */
function useFound(kind, records) {
  const inTurn = useMemo(() => records && named(kind, inOrder(records, { id: KINDS[kind].id, name: "name" }, query("order"))), [records, query("order"), status.value]);
  return useMemo(() => inTurn && chosen(inTurn), [inTurn, ...Object.keys(FILTERS).map((name) => query(name))]);
}

/** @typedef {{record: Artwork, name: string, states: import("../reader_states.js").Known}} Named A record, and what it is searched by, as it is compared. */

/** @param {ArtworkKind} kind @param {Artwork[]} records @returns {Named[]} */
function named(kind, records) {
  const wordsOf = (/** @type {Artwork} */ { name, details }) => (details ? [name, details.description, ...(details.tags ?? [])].join("\n") : name);
  return records.map((record) => ({ record, name: searchForm(wordsOf(record)), states: statesOf(kind, /** @type {any} */ (record)[KINDS[kind].id]) }));
}

/** @param {Named[]} all @returns {Artwork[]} those that the filters leave */
function chosen(all) {
  const q = searchForm(query("q"));
  const [target, tag, active, author, state, host] = ["target", "tag", "active", "author", "state", "host"].map((name) => query(name));
  const since = Number(query("changed")) && Date.now() / 1000 - Number(query("changed")) * 86_400;
  const fits = (/** @type {Named} */ { record, name, states }) =>
    name.includes(q) &&
    (!target || record.target === target) &&
    (!tag || record.details?.tags?.includes(tag)) &&
    (!active || active === (record.active ? "yes" : "no")) &&
    (!state || state in states) &&
    (!host || hostsOf(record).has(host)) &&
    (!since || /** @type {any} */ (record).changed_at >= since) &&
    (!author || (author === "none" ? record.authors.length === 0 : record.authors.some((each) => String(each.author_id) === author)));
  return all.filter(fits).map(({ record }) => record);
}

const filtering = () => Object.keys(FILTERS).some((name) => query(name));

/** @param {{kind: ArtworkKind, records: Artwork[] | undefined, children?: any}} props */
function Filters({ kind, records, children }) {
  const choices = useMemo(() => choicesIn(records ?? []), [records, language.value]);
  /** @type {(label: string, name: string, choices: [string, string][]) => import("../parts/lists/toolbar.js").Choice} */
  const filter = (label, name, some) => ({ label, value: query(name), choices: [["", t("filter.any")], ...some], pick: (chosen) => setQuery({ [name]: chosen }) });
  const filters = [
    filter(t("field.target"), "target", choices.targets),
    ...(choices.tags.length || query("tag") ? [filter(t("field.details_tags"), "tag", choices.tags)] : []),
    filter(t("field.active"), "active", [["yes", t("yes")], ["no", t("no")]]),
    ...(may(KINDS[kind].write) ? [filter(t("field.state"), "state", STATES.map((each) => [each, t(`state.${each}`)]))] : []),
    filter(t("author.title"), "author", choices.authors),
    filter(t("filter.host"), "host", choices.hosts),
    filter(t("field.changed"), "changed", DAYS.map((each) => [each, t(`filter.days.${each}`)])),
  ];
  const search = h(Search, { value: query("q"), label: t(`${kind}s.search`), search: (text) => setQuery({ q: text }) });
  return h(Toolbar, { search, filters, order: orderChoice() }, children);
}

/** @param {Artwork[]} records @returns {Record<"targets" | "tags" | "authors" | "hosts", [string, string][]>} the filters */
function choicesIn(records) {
  const targets = new Set(records.map((record) => record.target));
  const authors = new Map(records.flatMap((record) => record.authors).map((each) => [String(each.author_id), each.username]));
  const hosts = new Set(records.flatMap((record) => [...hostsOf(record)]));
  return {
    hosts: [...hosts].sort().map((host) => [host, host]),
    tags: tagsOf(records).map((tag) => [tag, tag]),
    targets: [...targets].sort(byName).map((target) => [target, target]),
    authors: [["none", t("filter.author.none")], ...[...authors].sort(([, a], [, b]) => byName(a, b))],
  };
}

/** @type {WeakMap<Artwork, Set<string>>} */
const hosts = new WeakMap();

/** @param {Artwork} record @returns {Set<string>} those that its CSS names */
function hostsOf(record) {
  const found = hosts.get(record) ?? new Set([...record.custom_css.matchAll(/\/\/([\w-]+(?:\.[\w-]+)+)/g)].map(([, host = ""]) => host.toLowerCase()));
  hosts.set(record, found);
  return found;
}

/** @param {{kind: ArtworkKind, look: string}} props */
function Looks({ kind, look }) {
  const choose = (/** @type {string} */ chosen) => {
    prefer({ [lookOf(kind)]: chosen });
    setQuery({ look: chosen });
  };
  const choices = /** @type {const} */ (["grid", "table"]).map((each) => [each, [h(Icon, { name: each === "grid" ? "LayoutGrid" : "Rows3" }), h("span", null, t(`look.${each}`))]]);
  return h(Segmented, { class: "looks", label: t("look"), choices, chosen: look, choose });
}

/** The table, which most never ask for. */
const LazyTable = lazy(withTexts(() => import("../parts/artwork/artwork_table.js").then((module) => module.ArtworkTable)), () => h(Skeleton, {}));
const LazyActs = lazy(withTexts(() => import("../parts/lists/bulk_acts.js").then((module) => module.BulkActs), "bulk"));

/** How often a list is read again while one looks at it, in milliseconds. */
const EVERY = 30_000;

/** What others do to a list: it is read again now and then, but not while one writes oneself, and what is missing is said. @param {ArtworkKind} kind @param {boolean} busy */
function useSync(kind, busy) {
  const look = async () => {
    if (trouble.value || busy) return;
    const missing = await readList(kind);
    if (missing.length > 0) say(t("elsewhere.removed", { n: missing.length, names: namesOf(kind, missing) }), { tone: "failed" });
  };
  useLook(look, EVERY, [kind, busy]);
  useEvents(window, "focus", look, [kind, busy]);
}

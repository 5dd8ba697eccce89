/** Where one begins: what somebody should look at, what readers have now, and what happened lately. */
import { h, useEffect } from "../vendor/preact.js";
import { returned } from "../client.js";
import { ChangeList } from "../parts/history/change_list.js";
import { readPage } from "../parts/history/changes.js";
import { Icon, lazy, Link, Pending, pictureUrl, Skeleton, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRead } from "../parts/primitives/hooks.js";
import { nameOf } from "../presentation.js";
import { queue, readQueue, reviews, waiting } from "../proposals.js";
import { readStates, status } from "../reader_states.js";
import { KINDS, listOf } from "../records.js";
import { FIRST_ROLE } from "../scopes.js";
import { may } from "../session.js";
import { t, withTexts } from "../texts.js";

const LATEST = 8;
/** Of those that wait. */
const QUEUE = 5;
const Submissions = lazy(withTexts(() => import("../parts/proposals/submission_list.js").then((module) => module.SubmissionList), "proposals"), () => h(Skeleton, {}));
const Published = lazy(withTexts(() => import("../parts/overview/published.js").then((module) => module.Published), "publication"), () => h(Skeleton, {}));

export default function Overview() {
  useLists(.../** @type {KindName[]} */ (Object.keys(KINDS)));
  // Read at once, not with the sidebar, or waiting proposals would push the rest down.
  useEffect(() => void Promise.all([readStates(), readQueue({ ifOld: true })]), [returned.value]);
  // What waits comes first, also where nothing was applied yet.
  const isEmpty = GALLERY.every((kind) => listOf(kind).value.records?.length === 0) && (!reviews() || queue.value.proposals?.length === 0);
  return h("div", { class: "view" },
    h(ViewHead, { title: t(isEmpty ? "welcome.title" : "overview.title") }),
    isEmpty ? h(Welcome, {}) : h(Everything, {}),
  );
}

function Everything() {
  return h("div", { class: "overview" },
    h("div", { class: "overview-part" },
      waiting() > 0 && h(Section, { title: h(Link, { to: "submissions" }, t("attention.submissions", { n: waiting() })) }, h(Submissions, { proposals: queue.value.proposals?.slice(0, QUEUE), label: t("submissions.title"), hasState: false })),
      h(Section, { title: t("overview.attention") }, h(Attention, {})),
      (may("logos:write") || may("themes:write")) && h(Section, { title: t("overview.published") }, h(Published, {})),
    ),
    may("changes:read") && h(Section, { title: t("overview.latest") }, h(Latest, {})),
  );
}

/** @param {{title: any, children?: any}} props */
function Section({ title, children }) {
  return h("section", { class: "stack loose" }, h("h2", null, title), children);
}

function Latest() {
  const { data, failure, again } = useRead((signal) => readPage({}, 0, { size: 2 * LATEST, signal }));
  if (!data) return h(Pending, { failure, again });
  return [
    h(ChangeList, { key: "list", entries: data.entries.slice(0, LATEST), undone: again, label: t("overview.latest") }),
    h(Link, { key: "all", to: "history" }, t("overview.history")),
  ];
}

/**
 * @typedef {object} Matter
 * @property {TextKey} key
 * @property {KindName} kind
 * @property {any[]} records
 * @property {number} of How many there are that it could concern.
 * @property {string} [list] Where all of them are listed, so that they need not be named here.
 */

/** The kinds whose lists everybody sees. @type {KindName[]} */
export const GALLERY = ["logo", "theme", "author"];
/** The number named; the lists have the rest. */
const NAMED = 24;
/** From this number of records on, a finding about most of them is normal for the gallery, and no task. */
const MANY = 10;

/** @returns {Matter[]} what there is of them, what harms most first */
function matters() {
  const [logo, theme, author, user, role] = /** @type {const} */ (["logo", "theme", "author", "user", "role"]).map((kind) => /** @type {any[] | undefined} */ (listOf(kind).value.records));
  const of = { logo: ofArtworks("logo", logo ?? []), theme: ofArtworks("theme", theme ?? []) };
  const artworks = /** @type {const} */ (["picture", "css", "twice", "insecure", "authors"]).flatMap((what) => [of.logo[what], of.theme[what]]);
  const credited = new Set([...(logo ?? []), ...(theme ?? [])].flatMap((each) => each.authors.map((/** @type {Records["author"]} */ one) => one.author_id)));
  const taken = new Set(user?.map((each) => each.role_id));
  const found = /** @type {Matter[]} */ ([
    ...ofReaders(),
    ...artworks,
    { key: "attention.author.idle", kind: "author", records: logo && theme ? (author ?? []).filter((each) => !credited.has(each.author_id)) : [], of: author?.length ?? 0 },
    { key: "attention.role.idle", kind: "role", records: user ? (role ?? []).filter((each) => each.role_id !== FIRST_ROLE && !taken.has(each.role_id)) : [], of: role?.length ?? 0 },
  ]);
  return found.filter(({ records }) => records.length > 0);
}

/** What sites do not get, and what else reviewers should look at; however many these are, each is a task. */
function ofReaders() {
  const ids = (/** @type {"left_out" | "risky"} */ state, /** @type {ArtworkKind} */ kind) => new Set((status.value?.[state] ?? []).filter((each) => each.kind === kind).map((each) => each.id));
  return /** @type {const} */ (["left_out", "risky"]).flatMap((state) =>
    /** @type {const} */ (["logo", "theme"]).map((kind) => ({ key: `attention.${kind}.${state}`, kind, records: [...ids(state, kind)], of: 0, list: `${kind}s?state=${state}` })),
  );
}

/** @param {"logo" | "theme"} kind @param {any[]} all */
function ofArtworks(kind, all) {
  const active = all.filter((each) => each.active);
  /** @param {string} what @param {any[]} records @param {any[]} among */
  const matter = (what, records, among) => ({ key: `attention.${kind}.${what}`, kind, records, of: among.length });
  return {
    picture: matter("picture", all.filter((each) => pictureUrl(each.preview_url) === undefined), all),
    css: matter("css", active.filter((each) => each.custom_css.trim() === ""), active),
    twice: matter("twice", repeated(active), active),
    insecure: matter("insecure", all.filter((each) => each.preview_url.startsWith("http:")), all),
    authors: { ...matter("authors", all.filter((each) => each.authors.length === 0), all), list: `${kind}s?author=none` },
  };
}

/** @param {any[]} artworks @returns {any[]} those of one target that have the same name */
function repeated(artworks) {
  const key = (/** @type {any} */ each) => `${each.target}\n${each.name}`;
  const seen = new Map();
  for (const each of artworks) seen.set(key(each), (seen.get(key(each)) ?? 0) + 1);
  return artworks.filter((each) => seen.get(key(each)) > 1);
}

function Attention() {
  const found = matters();
  // Until all of it is known, nobody can say that all is well.
  const isUnread =
    (!status.value && (may("logos:write") || may("themes:write"))) ||
    GALLERY.some((kind) => !listOf(kind).value.records);
  if (found.length === 0) return h("p", { class: "hint" }, t(isUnread ? "attention.unread" : "attention.none"));
  const isUsual = (/** @type {Matter} */ { records, of }) => of >= MANY && records.length > of / 2;
  const usual = found.filter(isUsual);
  return h("ul", { class: "box divided matters" },
    found.filter((matter) => !isUsual(matter)).map((matter) => h("li", { key: matter.key }, h(Item, { matter }))),
    usual.length > 0 && h("li", { key: "usual" }, h(Usual, { matters: usual })),
  );
}

/** @param {{matter: Matter}} props */
function Item({ matter: { key, kind, records, list } }) {
  const { id } = KINDS[kind];
  if (list) return h("p", { class: "matter" }, h(Link, { to: list, class: "matter-link" }, t(key, { n: records.length })));
  return h("details", { class: "matter" },
    h("summary", null, t(key, { n: records.length })),
    h("ul", { class: "names" },
      records.slice(0, NAMED).map((each) => h("li", { key: each[id] }, h(Link, { to: `${kind}s/${each[id]}`, dir: "auto" }, nameOf(kind, each)))),
      records.length > NAMED && h("li", { key: "more", class: "hint" }, t("attention.more", { n: records.length - NAMED })),
    ),
  );
}

/** What concerns most records, in one line until somebody asks. @param {{matters: Matter[]}} props */
function Usual({ matters: all }) {
  return h("details", { class: "matter usual" },
    h("summary", null, t("attention.usual", { n: all.length })),
    h("ul", { class: "names" }, all.map((matter) => h("li", { key: matter.key }, h(Item, { matter })))),
  );
}

/** @typedef {{name: "import" | "logo" | "colleague", to: string, icon: IconName, scopes: string[]}} DoorProps One of the scopes is enough. */

const { logo, theme, author, user, role } = KINDS;
/** @type {DoorProps[]} */
const DOORS = [
  { name: "import", to: "import", icon: "Upload", scopes: [logo, theme, author, user, role].map(({ write }) => write) },
  { name: "logo", to: "logos/new", icon: "Image", scopes: [logo.write] },
  { name: "colleague", to: "users/new", icon: "UserPlus", scopes: [user.write] },
];

/** What an empty gallery can begin with. */
export function Welcome() {
  const canAdd = DOORS.some(({ scopes }) => scopes.some(may));
  return [
    h("p", { key: "about" }, t(canAdd ? "welcome.about" : "welcome.reader")),
    h("ul", { key: "doors", class: "doors" }, DOORS.map((door) => h("li", { key: door.name }, h(Door, door)))),
  ];
}

/** @param {DoorProps} props */
function Door({ name, to, icon, scopes }) {
  const [scope = ""] = scopes;
  const isOpen = scopes.some(may);
  const sign = [h(Icon, { key: "icon", name: icon }), h("h2", { key: "name" }, t(`welcome.${name}`)), h("p", { key: "about" }, t(`welcome.${name}.about`))];
  if (isOpen) return h(Link, { to, class: "box stack door" }, sign);
  return h("div", { class: "box stack door closed" }, sign, h("p", { class: "hint" }, t("needsScope", { scope })));
}

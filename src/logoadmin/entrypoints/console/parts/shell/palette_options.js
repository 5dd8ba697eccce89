/** What the search over everything finds: records that are loaded or that the service finds, views, and actions. */
import { signal, useEffect, useMemo } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { isMeant, missingScope } from "../../place.js";
import { nameOf, searchForm } from "../../presentation.js";
import { recent } from "../../recent.js";
import { KINDS, listOf, maySee } from "../../records.js";
import { navigate } from "../../router.js";
import { may } from "../../session.js";
import { LANGUAGES, chooseLanguage, language, t } from "../../texts.js";
import { views } from "../../views.js";
import { leave, titleOf } from "./sidebar.js";
import { THEMES, chooseTheme, theme } from "./theme.js";

/**
 * @typedef {import("../../records.js").KindName} KindName
 * @typedef {object} Option
 * @property {string} id Unique among the options, and part of an element's id.
 * @property {import("../primitives/icon.js").IconName} icon
 * @property {string} text
 * @property {string} [note]
 * @property {() => void} run
 * @property {number} rank How well it matches; 0 is best.
 *
 * @typedef {{title: string, options: Option[]}} Group
 */

/** Options of a group; the best ones are shown. */
const SHOWN = 6;
/** Records that the service returns of each kind, of which the best are shown. */
const ASKED = 20;
/** Milliseconds without typing before the service is asked. */
const PAUSE = 150;
const MISS = 9;

/** @param {string} text @param {string} q in search form @returns {number} `MISS` where it does not match */
function rankOf(text, q) {
  const at = searchForm(text).indexOf(q);
  if (at < 0) return MISS;
  if (at === 0) return text.length === q.length ? 0 : 1;
  return /[\p{L}\p{N}]/u.test(text.charAt(at - 1)) ? 3 : 2;
}

/** @param {string} q @returns {number} the id that it may name; -1 for other text */
const idIn = (q) => (/^#?\d{1,10}$/.test(q) && Number(q.replace("#", "")) < 2 ** 31 ? Number(q.replace("#", "")) : -1);

/** @returns {KindName[]} the kinds that the user may see */
const visibleKinds = () =>
  /** @type {KindName[]} */ (Object.keys(KINDS)).filter((kind) => maySee(kind) && views.some((view) => view.path === `${kind}s` && isMeant(view)));

/** @param {KindName} kind @returns {import("../primitives/icon.js").IconName} */
const iconOf = (kind) => views.find((view) => view.path === `${kind}s`)?.icon ?? "Hash";

/** @param {KindName} kind @param {number} id @param {string} name @param {string} [place] @returns {Omit<Option, "rank">} */
const recordOption = (kind, id, name, place = "") => ({
  id: `${kind}-${id}`,
  icon: iconOf(kind),
  text: name,
  note: [place, `#${id}`].filter(Boolean).join(" · "),
  run: () => void navigate(`${kind}s/${id}`),
});

/** @param {KindName} kind @param {any[]} records @param {string} q in search form @returns {Group} */
function recordGroup(kind, records, q) {
  const { id } = KINDS[kind];
  const number = idIn(q);
  const ranked = records
    .map((record) => ({ record, name: nameOf(kind, record) }))
    .map(({ record, name }) => ({ record, name, rank: record[id] === number ? 0 : rankOf(name, q) }))
    .filter(({ rank }) => rank < MISS)
    .toSorted((a, b) => a.rank - b.rank || a.name.length - b.name.length)
    .slice(0, SHOWN);
  return { title: t(`${kind}s.title`), options: ranked.map(({ record, name, rank }) => ({ ...recordOption(kind, record[id], name, record.target), rank })) };
}

/** @param {string} title @param {Omit<Option, "rank">[]} options @param {string} q in search form @returns {Group} */
const wordGroup = (title, options, q) => ({
  title,
  options: options.map((option) => ({ ...option, rank: rankOf(option.text, q) })).filter(({ rank }) => rank < MISS),
});

/** @returns {Omit<Option, "rank">[]} the views that the user may see */
const viewOptions = () =>
  views
    .filter((view) => view.icon && isMeant(view) && missingScope(view) === "")
    .map((view) => ({ id: `view-${view.path}`, icon: view.icon ?? "ArrowRight", text: titleOf(view), run: () => void navigate(view.path) }));

/** @param {() => void} help @returns {Omit<Option, "rank">[]} what the user may do from everywhere */
function actionOptions(help) {
  const kinds = /** @type {KindName[]} */ (Object.keys(KINDS)).filter((kind) => may(KINDS[kind].write));
  return [
    ...kinds.map((kind) => ({ id: `new-${kind}`, icon: /** @type {const} */ ("Plus"), text: t(`${kind}s.new`), run: () => void navigate(`${kind}s/new`) })),
    ...THEMES.filter((each) => each !== theme.value).map((each) => ({
      id: `theme-${each}`,
      icon: /** @type {const} */ ("Palette"),
      text: `${t("theme")}: ${t(`theme.${each}`)}`,
      run: () => chooseTheme(each),
    })),
    ...Object.entries(LANGUAGES)
      .filter(([each]) => each !== language.value)
      .map(([each, name]) => ({
        id: `language-${each}`,
        icon: /** @type {const} */ ("ArrowRight"),
        text: `${t("language")}: ${name}`,
        run: () => void chooseLanguage(/** @type {import("../../texts.js").Language} */ (each)),
      })),
    { id: "help", icon: "Keyboard", text: t("help"), run: help },
    { id: "sign-out", icon: "LogOut", text: t("signOut"), run: () => void leave() },
  ];
}

/** @returns {Group} the records that were opened last, as far as they are known to exist */
function recentGroup() {
  const known = recent().filter(({ kind, id }) => listOf(kind).value.records?.some((/** @type {any} */ record) => record[KINDS[kind].id] === id) ?? true);
  return { title: t("palette.recent"), options: known.slice(0, SHOWN).map(({ kind, id, name }) => ({ ...recordOption(kind, id, name), rank: 0 })) };
}

/** @param {string} text the input @param {() => void} help shows the keys @returns {{groups: Group[], isBusy: boolean, failure: Failure | undefined}} the best group first */
export function useOptions(text, help) {
  const q = searchForm(text.trim());
  const asked = useAsked(q);
  const own = [wordGroup(t("sidebar"), viewOptions(), q), wordGroup(t("palette.actions"), actionOptions(help), q)];
  const groups = q ? [...own, ...visibleKinds().map((kind) => recordGroup(kind, merged(kind, asked.found[kind] ?? []), q))] : [recentGroup(), ...own];
  const best = (/** @type {Group} */ { options }) => Math.min(MISS, ...options.map(({ rank }) => rank));
  const sorted = groups.filter(({ options }) => options.length > 0).toSorted((a, b) => (q ? best(a) - best(b) : 0));
  return { groups: sorted, isBusy: asked.isBusy, failure: asked.failure };
}

/** @param {KindName} kind @param {any[]} found by the service @returns {any[]} with those that are loaded */
function merged(kind, found) {
  const { id } = KINDS[kind];
  const loaded = /** @type {any[]} */ (listOf(kind).value.records ?? []);
  const there = new Set(loaded.map((record) => record[id]));
  return [...loaded, ...found.filter((record) => !there.has(record[id]))];
}

/** What the service finds, after a pause in typing; a newer search aborts the one before. @param {string} q in search form */
function useAsked(q) {
  const state = useMemo(() => signal({ q: "", found: /** @type {Partial<Record<KindName, any[]>>} */ ({}), failure: /** @type {Failure | undefined} */ (undefined) }), []);
  useEffect(() => {
    if (!q) return;
    const abort = new AbortController();
    const timer = setTimeout(async () => {
      const kinds = visibleKinds();
      const answers = await Promise.allSettled(kinds.map((kind) => recordsFor(kind, q, abort.signal)));
      if (abort.signal.aborted) return;
      const found = Object.fromEntries(kinds.map((kind, at) => [kind, answers[at]?.status === "fulfilled" ? answers[at].value : []]));
      const failure = answers.map((answer) => answer.status === "rejected" && answer.reason).find((reason) => reason instanceof Failure);
      state.value = { q, found, failure };
    }, PAUSE);
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [q]);
  const { found, failure } = state.value;
  return { found, failure: state.value.q === q ? failure : undefined, isBusy: q !== "" && state.value.q !== q };
}

/** @param {KindName} kind @param {string} q @param {AbortSignal} signal @returns {Promise<any[]>} those that match by name or by id */
async function recordsFor(kind, q, signal) {
  const { list, id, anonymous } = KINDS[kind];
  const read = (/** @type {object} */ query) => /** @type {Promise<import("../../client.js").Answer<any>>} */ (call("get", /** @type {any} */ (list), /** @type {any} */ ({ query, anonymous, signal })));
  const number = idIn(q);
  const [byName, next] = await Promise.all([read({ q, limit: ASKED }), number < 0 ? undefined : read({ limit: 1, ...(number > 0 ? { after: number - 1 } : {}) })]);
  const exact = next?.data.filter((/** @type {any} */ record) => record[id] === number) ?? [];
  return [...exact, ...byName.data.filter((/** @type {any} */ record) => record[id] !== number)];
}

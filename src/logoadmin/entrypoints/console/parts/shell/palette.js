/** The search over everything: one field, and below it the records, views and actions that match. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { chooseTheme, theme, THEMES } from "../../look.js";
import { describe } from "../../notices.js";
import { isMeant, missingScope } from "../../place.js";
import { nameOf, searchForm } from "../../presentation.js";
import { KINDS, listOf, maySee, recent } from "../../records.js";
import { navigate } from "../../router.js";
import { leave, may } from "../../session.js";
import { chooseLanguage, language, LANGUAGES, t } from "../../texts.js";
import { views } from "../../views.js";
import { Icon, UNAIDED } from "../primitives/basics.js";
import { useRead, useRested } from "../primitives/hooks.js";
import { Dialog } from "../primitives/dialog.js";
import { SEARCH_KEYS, titleOf } from "./sidebar.js";

/** @param {{begin: string, close: () => void, help: () => void}} props `begin` is the text typed so far; `help` shows the keys. */
export function Palette({ begin, close, help }) {
  const id = useId();
  const [text, setText] = useState(begin);
  const [chosen, setChosen] = useState("");
  const { groups, isBusy, failure } = useOptions(text, help);
  const options = groups.flatMap((group) => group.options);
  // The first one until the user moves: better ones may still arrive before it.
  const at = Math.max(0, options.findIndex((option) => option.id === chosen));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => list.current?.querySelector('[aria-selected="true"]')?.scrollIntoView({ block: "nearest" }), [at, text]);
  const run = (/** @type {Option | undefined} */ option) => {
    if (!option) return;
    close();
    option.run();
  };
  const keys = (/** @type {KeyboardEvent} */ event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.isComposing || (!step && event.key !== "Enter")) return;
    event.preventDefault();
    if (step) setChosen(options.at((at + step) % options.length)?.id ?? "");
    else run(options[at]);
  };
  return h(Dialog, { title: t("palette.title"), close, look: "palette" },
    h("div", { class: "palette-field" },
      h(Icon, { name: "Search" }),
      h("input", {
        type: "text",
        role: "combobox",
        class: "palette-input",
        value: text,
        placeholder: t("palette.placeholder"),
        "aria-label": t("palette.title"),
        "aria-autocomplete": "list",
        "aria-expanded": options.length > 0,
        "aria-controls": `${id}-list`,
        "aria-activedescendant": options[at] && `${id}-${options[at].id}`,
        maxLength: 128,
        ...UNAIDED,
        onInput: (event) => {
          setText(event.currentTarget.value);
          setChosen("");
        },
        onKeyDown: keys,
      }),
      h("button", { type: "button", class: "button quiet", onClick: close }, t("close")),
    ),
    h(
      "div",
      { id: `${id}-list`, ref: list, role: "listbox", class: "palette-list", "aria-label": t("palette.title"), hidden: options.length === 0 },
      groups.map((group, number) =>
        h("div", { key: group.title, role: "group", "aria-labelledby": `${id}-group-${number}` },
          h("div", { id: `${id}-group-${number}`, class: "palette-title" }, group.title),
          group.options.map((option) => h(Choice, { key: option.id, id: `${id}-${option.id}`, option, isChosen: option === options[at], run })),
        ),
      ),
    ),
    h("p", { class: options.length > 0 && !failure ? "hidden" : "palette-status", role: "status" },
      failure ? describe(failure) : text.trim() === "" ? "" : options.length > 0 ? t("found", { n: options.length }) : t(isBusy ? "palette.searching" : "none.found"),
    ),
  );
}

/** @param {{id: string, option: Option, isChosen: boolean, run: (option: Option) => void}} props */
function Choice({ id, option, isChosen, run }) {
  return h("div", { id, role: "option", class: "palette-option", "aria-selected": isChosen, onClick: () => run(option) },
    h(Icon, { name: option.icon }),
    h("span", { class: "palette-text", dir: "auto" }, option.text),
    option.note && h("bdi", { class: "palette-note" }, option.note),
  );
}

/**
 * @typedef {object} Option
 * @property {string} id Unique among the options, and part of an element's id.
 * @property {IconName} icon
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

/** @param {KindName} kind @returns {IconName} */
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

/** The results of the search over everything: records that are loaded or that the service finds, views, and actions. @param {string} text the input @param {() => void} help shows the keys @returns {{groups: Group[], isBusy: boolean, failure: Failure | undefined}} the best group first */
function useOptions(text, help) {
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

/** The results of the service, after a pause in typing; a newer search aborts the one before. @param {string} q in search form */
function useAsked(q) {
  const wanted = useRested(q, PAUSE);
  const { data } = useRead(async (signal) => {
    const kinds = wanted ? visibleKinds() : [];
    const answers = await Promise.allSettled(kinds.map((kind) => recordsFor(kind, wanted, signal)));
    /** @type {Partial<Record<KindName, any[]>>} */
    const found = Object.fromEntries(kinds.map((kind, at) => [kind, answers[at]?.status === "fulfilled" ? answers[at].value : []]));
    const failure = answers.map((answer) => answer.status === "rejected" && answer.reason).find((reason) => reason instanceof Failure);
    return { q: wanted, found, failure };
  }, [wanted]);
  const isCurrent = data?.q === q;
  return { found: data?.found ?? {}, failure: isCurrent ? data.failure : undefined, isBusy: q !== "" && !isCurrent };
}

/** @param {KindName} kind @param {string} q @param {AbortSignal} signal @returns {Promise<any[]>} those that match by name or by id */
async function recordsFor(kind, q, signal) {
  const { list, id, anonymous } = KINDS[kind];
  const read = (/** @type {object} */ query) => /** @type {Promise<Answer>} */ (call("get", /** @type {any} */ (list), /** @type {any} */ ({ query, anonymous, signal })));
  const number = idIn(q);
  const [byName, next] = await Promise.all([read({ q, limit: ASKED }), number < 0 ? undefined : read({ limit: 1, ...(number > 0 ? { after: number - 1 } : {}) })]);
  const exact = next?.data.filter((/** @type {any} */ record) => record[id] === number) ?? [];
  return [...exact, ...byName.data.filter((/** @type {any} */ record) => record[id] !== number)];
}

/** @type {[string[], TextKey][]} */
const KEYS = [
  [SEARCH_KEYS, "palette.title"],
  [["/"], "key.search"],
  [["←", "→", "↑", "↓"], "key.arrows"],
  [["Enter"], "key.open"],
  [["Space"], "key.glance"],
  [["X"], "key.select"],
  [["Ctrl", "A"], "key.selectAll"],
  [["Ctrl", "S"], "key.save"],
  [["J"], "key.next"],
  [["K"], "key.previous"],
  [["A"], "key.apply"],
  [["R"], "key.decline"],
  [["E"], "key.mend"],
  [["D"], "key.duplicate"],
  [["N"], "key.new"],
  [["Ctrl", "Z"], "key.undo"],
  [["Esc"], "key.close"],
  [["?"], "key.help"],
];

/** The keys of the console. @param {{close: () => void}} props */
export function Help({ close }) {
  return h(Dialog, { title: t("help"), close },
    h("dl", { class: "stack keys" },
      KEYS.map(([keys, text]) =>
        h("div", { key: text }, h("dt", null, keys.map((key) => h("kbd", { key }, key))), h("dd", null, t(text))),
      ),
    ),
    h("div", { class: "cluster dialog-actions" }, h("button", { type: "button", class: "button primary", onClick: close }, t("close"))),
  );
}

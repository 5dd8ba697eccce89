/** All texts of the list, in English and Russian. */
import { language, locale } from "./page-choices.js";

/** @typedef {typeof ENGLISH} Texts */

/** @param {string} language */
const counting = (language) => {
  const numbers = new Intl.NumberFormat(language);
  const rules = new Intl.PluralRules(language);
  /** @param {number} count @param {string[]} forms one and other; in Russian one, few and many */
  return (count, [one = "", few = "", many = few]) => {
    const form = rules.select(count);
    return `${numbers.format(count)} ${form === "one" ? one : form === "few" ? few : many}`;
  };
};

const inEnglish = counting("en");
const inRussian = counting("ru");

const ENGLISH = {
  home: "Back to the site",
  submit: "Submit a work",
  search: "Search names, authors and tags",
  kind: "Kind",
  sort: "Order",
  all: "All",
  logos: "Logos",
  themes: "Themes",
  logo: "Logo",
  theme: "Theme",
  newest: "Newest",
  updated: "Recently updated",
  byName: "By name",
  works: "Works",
  count: (/** @type {number} */ count) => inEnglish(count, ["work", "works"]),
  logoCount: (/** @type {number} */ count) => inEnglish(count, ["logo", "logos"]),
  themeCount: (/** @type {number} */ count) => inEnglish(count, ["theme", "themes"]),
  authorCount: (/** @type {number} */ count) => inEnglish(count, ["author", "authors"]),
  targets: {
    all: "Targets",
    search: "Search targets",
    more: (/** @type {number} */ count) => inEnglish(count, ["more target", "more targets"]),
  },
  tags: { all: "Tags", search: "Search tags", more: (/** @type {number} */ count) => inEnglish(count, ["more tag", "more tags"]) },
  done: "Done",
  typeForMore: (/** @type {number} */ count) => `${inEnglish(count, ["more matches", "more match"])}: search to find them`,
  showAll: (/** @type {string} */ count) => `Show all ${count} works`,
  updatedOn: (/** @type {string} */ date) => `Updated ${date}`,
  found: (/** @type {string} */ some, /** @type {string} */ all) => `${some} of ${all}`,
  noMatch: "No works match",
  noMatchText: "Try another word, or look at everything.",
  clear: "Clear search and filters",
  empty: "Nothing here yet",
  emptyText: "The first logos and themes will appear here as soon as they are published.",
  loading: "Loading the gallery …",
  retry: "Try again",
  offline: "The gallery cannot be reached",
  offlineText: "Check your connection, and try again.",
  offlineKept: (/** @type {string} */ date) => `The gallery cannot be reached. You see it as of ${date}.`,
  unpublished: "Nothing is published yet",
  unpublishedText: "The files of this gallery are not here. Come back later.",
  expired: "This gallery is out of date",
  expiredText: "Its signature has expired, so it is not shown. Its operator must publish it again.",
  expiredKept: (/** @type {string} */ date) => `This gallery has not been renewed since ${date}. Works may have been removed meanwhile.`,
  broken: "This gallery cannot be trusted",
  brokenText: "Its files are damaged or not signed by its operator, so they are not shown.",
  brokenKept: (/** @type {string} */ date) =>
    `The latest files are damaged or not signed by the operator. You see the last good state, of ${date}.`,
  insecure: "This page needs a secure connection",
  insecureText: "Browsers can verify signatures only on https pages. Open this page over https.",
  old: "Your browser is too old",
  oldText: "It cannot verify the signature of this gallery. Update it, and come back.",
  secure: "Open over https",
};

/** @type {Texts} */
const RUSSIAN = {
  home: "На сайт",
  submit: "Предложить работу",
  search: "Название, автор или метка",
  kind: "Вид",
  sort: "Порядок",
  all: "Все",
  logos: "Логотипы",
  themes: "Темы",
  logo: "Логотип",
  theme: "Тема",
  newest: "Новые",
  updated: "Недавно обновлённые",
  byName: "По названию",
  works: "Работы",
  count: (count) => inRussian(count, ["работа", "работы", "работ"]),
  logoCount: (count) => inRussian(count, ["логотип", "логотипа", "логотипов"]),
  themeCount: (count) => inRussian(count, ["тема", "темы", "тем"]),
  authorCount: (count) => inRussian(count, ["автор", "автора", "авторов"]),
  targets: { all: "Разделы", search: "Поиск по разделам", more: (count) => `Ещё ${inRussian(count, ["раздел", "раздела", "разделов"])}` },
  tags: { all: "Метки", search: "Поиск по меткам", more: (count) => `Ещё ${inRussian(count, ["метка", "метки", "меток"])}` },
  done: "Готово",
  typeForMore: (count) => `Ещё ${count}: введите часть названия`,
  showAll: (count) => `Показать все: ${count}`,
  updatedOn: (date) => `Обновлено ${date}`,
  found: (some, all) => `${some} из ${all}`,
  noMatch: "Ничего не найдено",
  noMatchText: "Попробуйте другое слово или посмотрите всё.",
  clear: "Сбросить поиск и фильтры",
  empty: "Здесь пока пусто",
  emptyText: "Первые логотипы и темы появятся здесь, как только их опубликуют.",
  loading: "Галерея загружается…",
  retry: "Повторить",
  offline: "Галерея недоступна",
  offlineText: "Проверьте соединение и повторите.",
  offlineKept: (date) => `Галерея недоступна. Показано её состояние на ${date}.`,
  unpublished: "Пока ничего не опубликовано",
  unpublishedText: "Файлов этой галереи здесь нет. Загляните позже.",
  expired: "Галерея устарела",
  expiredText: "Срок её подписи истёк, поэтому она не показана. Владелец должен опубликовать её заново.",
  expiredKept: (date) => `Галерея не обновлялась с ${date}. Часть работ могли убрать.`,
  broken: "Этой галерее нельзя доверять",
  brokenText: "Её файлы повреждены или не подписаны владельцем, поэтому они не показаны.",
  brokenKept: (date) => `Новые файлы повреждены или не подписаны владельцем. Показано последнее верное состояние, на ${date}.`,
  insecure: "Нужно защищённое соединение",
  insecureText: "Браузеры проверяют подписи только на страницах https. Откройте эту страницу по https.",
  old: "Браузер слишком старый",
  oldText: "Он не может проверить подпись галереи. Обновите его и возвращайтесь.",
  secure: "Открыть по https",
};

export const texts = language === "ru" ? RUSSIAN : ENGLISH;

/** @param {string} text @returns {string} without case and accents */
export const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
/** @param {number} seconds Unix time */
export const dateOf = (seconds) => dates.format(seconds * 1000);

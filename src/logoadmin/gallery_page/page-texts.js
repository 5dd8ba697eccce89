/** All texts of the list, in English and Russian. */
import { language, locale } from "./page-choices.js";

/** @template T @param {T} english @param {T} russian @returns {T} */
const both = (english, russian) => (language === "ru" ? russian : english);

const numbers = new Intl.NumberFormat(language);
const rules = new Intl.PluralRules(language);

/** @param {string[]} english one and other @param {string[]} russian one, few and many @param {string} [before] the number in Russian */
function counted(english, russian, before = "") {
  const [one = "", few = "", many = few] = both(english, russian);
  return (/** @type {number} */ count) => {
    const form = rules.select(count);
    return `${both("", before)}${numbers.format(count)} ${form === "one" ? one : form === "few" ? few : many}`;
  };
}
const matches = counted(["more matches", "more match"], []);

export const texts = {
  home: both("Back to the site", "На сайт"),
  submit: both("Submit a work", "Предложить работу"),
  search: both("Search names, authors and tags", "Название, автор или метка"),
  kind: both("Kind", "Вид"),
  sort: both("Order", "Порядок"),
  all: both("All", "Все"),
  logos: both("Logos", "Логотипы"),
  themes: both("Themes", "Темы"),
  logo: both("Logo", "Логотип"),
  theme: both("Theme", "Тема"),
  newest: both("Newest", "Новые"),
  updated: both("Recently updated", "Недавно обновлённые"),
  byName: both("By name", "По названию"),
  works: both("Works", "Работы"),
  count: counted(["work", "works"], ["работа", "работы", "работ"]),
  logoCount: counted(["logo", "logos"], ["логотип", "логотипа", "логотипов"]),
  themeCount: counted(["theme", "themes"], ["тема", "темы", "тем"]),
  authorCount: counted(["author", "authors"], ["автор", "автора", "авторов"]),
  targets: { all: both("Targets", "Разделы"), search: both("Search targets", "Поиск по разделам"), more: counted(["more target", "more targets"], ["раздел", "раздела", "разделов"], "Ещё ") },
  tags: { all: both("Tags", "Метки"), search: both("Search tags", "Поиск по меткам"), more: counted(["more tag", "more tags"], ["метка", "метки", "меток"], "Ещё ") },
  done: both("Done", "Готово"),
  typeForMore: (/** @type {number} */ count) => both(`${matches(count)}: search to find them`, `Ещё ${count}: введите часть названия`),
  showAll: (/** @type {string} */ count) => both(`Show all ${count} works`, `Показать все: ${count}`),
  updatedOn: (/** @type {string} */ date) => both(`Updated ${date}`, `Обновлено ${date}`),
  found: (/** @type {string} */ some, /** @type {string} */ all) => both(`${some} of ${all}`, `${some} из ${all}`),
  noMatch: both("No works match", "Ничего не найдено"),
  noMatchText: both("Try another word, or look at everything.", "Попробуйте другое слово или посмотрите всё."),
  clear: both("Clear search and filters", "Сбросить поиск и фильтры"),
  empty: both("Nothing here yet", "Здесь пока пусто"),
  emptyText: both("The first logos and themes will appear here as soon as they are published.", "Первые логотипы и темы появятся здесь, как только их опубликуют."),
  loading: both("Loading the gallery …", "Галерея загружается…"),
  retry: both("Try again", "Повторить"),
  offline: both("The gallery cannot be reached", "Галерея недоступна"),
  offlineText: both("Check your connection, and try again.", "Проверьте соединение и повторите."),
  offlineKept: (/** @type {string} */ date) => both(`The gallery cannot be reached. You see it as of ${date}.`, `Галерея недоступна. Показано её состояние на ${date}.`),
  unpublished: both("Nothing is published yet", "Пока ничего не опубликовано"),
  unpublishedText: both("The files of this gallery are not here. Come back later.", "Файлов этой галереи здесь нет. Загляните позже."),
  expired: both("This gallery is out of date", "Галерея устарела"),
  expiredText: both("Its signature has expired, so it is not shown. Its operator must publish it again.", "Срок её подписи истёк, поэтому она не показана. Владелец должен опубликовать её заново."),
  expiredKept: (/** @type {string} */ date) =>
    both(`This gallery has not been renewed since ${date}. Works may have been removed meanwhile.`, `Галерея не обновлялась с ${date}. Часть работ могли убрать.`),
  broken: both("This gallery cannot be trusted", "Этой галерее нельзя доверять"),
  brokenText: both("Its files are damaged or not signed by its operator, so they are not shown.", "Её файлы повреждены или не подписаны владельцем, поэтому они не показаны."),
  brokenKept: (/** @type {string} */ date) =>
    both(`The latest files are damaged or not signed by the operator. You see the last good state, of ${date}.`, `Новые файлы повреждены или не подписаны владельцем. Показано последнее верное состояние, на ${date}.`),
  insecure: both("This page needs a secure connection", "Нужно защищённое соединение"),
  insecureText: both("Browsers can verify signatures only on https pages. Open this page over https.", "Браузеры проверяют подписи только на страницах https. Откройте эту страницу по https."),
  old: both("Your browser is too old", "Браузер слишком старый"),
  oldText: both("It cannot verify the signature of this gallery. Update it, and come back.", "Он не может проверить подпись галереи. Обновите его и возвращайтесь."),
  secure: both("Open over https", "Открыть по https"),
};

/** @param {string} text @returns {string} without case and accents */
export const plain = (text) => text.normalize("NFKD").replace(/\p{M}/gu, "").toLowerCase();

const dates = new Intl.DateTimeFormat(locale, { dateStyle: "medium" });
/** @param {number} seconds Unix time */
export const dateOf = (seconds) => dates.format(seconds * 1000);

/** All texts of the page, in English and Russian. */

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
  skip: "Skip to content",
  demo: "A demo with invented people and works. Nothing of it is stored.",
  search: "Search by name or author",
  kind: "Kind",
  target: "Target",
  sort: "Order",
  all: "All",
  logos: "Logos",
  themes: "Themes",
  logo: "Logo",
  theme: "Theme",
  everyTarget: "All targets",
  newest: "Newest first",
  byName: "By name",
  works: "Works",
  count: (/** @type {number} */ count) => inEnglish(count, ["work", "works"]),
  logoCount: (/** @type {number} */ count) => inEnglish(count, ["logo", "logos"]),
  themeCount: (/** @type {number} */ count) => inEnglish(count, ["theme", "themes"]),
  authorCount: (/** @type {number} */ count) => inEnglish(count, ["author", "authors"]),
  found: (/** @type {string} */ some, /** @type {string} */ all) => `${some} of ${all}`,
  noMatch: "No works match",
  noMatchText: "Try another word, or look at everything.",
  clear: "Clear search and filters",
  empty: "Nothing here yet",
  emptyText: "The first logos and themes will appear here as soon as they are published.",
  loading: "Loading the gallery …",
  by: "By",
  author: "Author",
  added: (/** @type {string} */ date) => `Added ${date}`,
  pictureOf: (/** @type {string} */ name) => `Picture of ${name}`,
  onLight: "On a light page",
  onDark: "On a dark page",
  install: "Install",
  copy: "Copy CSS",
  copied: "Copied",
  copyFailed: "Could not copy. The CSS is below.",
  withoutCss: "This work has no CSS, so there is nothing to copy.",
  noCss: "Its CSS could not be loaded. Try again when you are online.",
  whatItDoes: "What it does to your page",
  howToUse: "How to use it",
  showCss: (/** @type {string} */ size) => `Show the CSS (${size})`,
  contactsNobody: "Contacts no other site",
  contacts: (/** @type {string} */ host) => `Contacts ${host}, which learns your IP address`,
  unpinned: (/** @type {string} */ url) => `Loads ${url}, which its owner can change at any time`,
  risks: {
    overlay: "Can cover the page",
    input_styling: "Styles text fields, and can react to what you type",
    attribute_exfiltration: "Can tell another site what is on the page or what you type",
    animation: "Has animations",
    document: "Contains a document that may contact other sites",
    foreign_document: "Has rules for other pages than those it is for",
    invalid: "Is not closed properly, so browsers guess where parts of it end",
  },
  otherRisk: (/** @type {string} */ risk) => `Has a risk that this page does not know: ${risk}`,
  noRisks: "Covers nothing, and does not touch text fields",
  stepManager: "Add a style manager to your browser, such as ",
  stepInstall: "Press Install here, and confirm there. The style manager then looks for updates as well.",
  stepCopy: "No style manager? Copy the CSS, and paste it where the site accepts your own.",
  copyLogo: (/** @type {string} */ target) =>
    `Copy the CSS. It consists of declarations for the logo of ${target}: put them into a rule for it, in a style manager or where the site accepts your own CSS.`,
  copyTheme: (/** @type {string} */ target) =>
    `Copy the CSS, and add it as a style for ${target} in a style manager or where the site accepts your own CSS.`,
  notInstallable: "A style manager would refuse this CSS because of mistakes or of rules for other pages, so it can only be copied.",
  moreBy: (/** @type {string} */ name) => `More by ${name}`,
  seeAll: "See all",
  back: "All works",
  retry: "Try again",
  notFound: "Not found",
  notFoundText: "This page does not exist. The work may have been removed.",
  removed: "No longer here",
  removedText: "This work was removed from the gallery.",
  blocked: "Blocked",
  blockedText: "This work was blocked. If you use it, remove it.",
  reason: (/** @type {string} */ reason) => `Reason: ${reason}`,
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
  skip: "К содержанию",
  demo: "Демонстрация с вымышленными людьми и работами. Ничего не сохраняется.",
  search: "Поиск по названию или автору",
  kind: "Вид",
  target: "Раздел",
  sort: "Порядок",
  all: "Все",
  logos: "Логотипы",
  themes: "Темы",
  logo: "Логотип",
  theme: "Тема",
  everyTarget: "Все разделы",
  newest: "Сначала новые",
  byName: "По названию",
  works: "Работы",
  count: (count) => inRussian(count, ["работа", "работы", "работ"]),
  logoCount: (count) => inRussian(count, ["логотип", "логотипа", "логотипов"]),
  themeCount: (count) => inRussian(count, ["тема", "темы", "тем"]),
  authorCount: (count) => inRussian(count, ["автор", "автора", "авторов"]),
  found: (some, all) => `${some} из ${all}`,
  noMatch: "Ничего не найдено",
  noMatchText: "Попробуйте другое слово или посмотрите всё.",
  clear: "Сбросить поиск и фильтры",
  empty: "Здесь пока пусто",
  emptyText: "Первые логотипы и темы появятся здесь, как только их опубликуют.",
  loading: "Галерея загружается…",
  by: "Автор:",
  author: "Автор",
  added: (date) => `Добавлено ${date}`,
  pictureOf: (name) => `Изображение: ${name}`,
  onLight: "На светлой странице",
  onDark: "На тёмной странице",
  install: "Установить",
  copy: "Скопировать CSS",
  copied: "Скопировано",
  copyFailed: "Не удалось скопировать. CSS показан ниже.",
  withoutCss: "У этой работы нет CSS, копировать нечего.",
  noCss: "Не удалось загрузить CSS. Попробуйте ещё раз, когда будет сеть.",
  whatItDoes: "Что он делает со страницей",
  howToUse: "Как использовать",
  showCss: (size) => `Показать CSS (${size})`,
  contactsNobody: "Не обращается к другим сайтам",
  contacts: (host) => `Обращается к ${host}: этот сайт видит ваш IP-адрес`,
  unpinned: (url) => `Загружает ${url}: владелец может изменить этот файл в любой момент`,
  risks: {
    overlay: "Может закрыть собой страницу",
    input_styling: "Оформляет поля ввода и может реагировать на то, что вы набираете",
    attribute_exfiltration: "Может сообщить другому сайту, что на странице или что вы набираете",
    animation: "Содержит анимацию",
    document: "Содержит документ, который может обращаться к другим сайтам",
    foreign_document: "Содержит правила для других страниц",
    invalid: "Закрыт неправильно: браузеры угадывают, где кончаются его части",
  },
  otherRisk: (risk) => `Есть риск, которого эта страница не знает: ${risk}`,
  noRisks: "Ничего не закрывает и не трогает поля ввода",
  stepManager: "Добавьте в браузер менеджер стилей, например ",
  stepInstall: "Нажмите здесь «Установить» и подтвердите в менеджере. Он же будет следить за обновлениями.",
  stepCopy: "Нет менеджера? Скопируйте CSS и вставьте его туда, где сайт принимает ваш собственный.",
  copyLogo: (target) =>
    `Скопируйте CSS. Это объявления для логотипа раздела ${target}: поместите их в правило для него в менеджере стилей или там, где сайт принимает ваш CSS.`,
  copyTheme: (target) =>
    `Скопируйте CSS и добавьте его как стиль для ${target} в менеджере стилей или там, где сайт принимает ваш CSS.`,
  notInstallable: "Из-за ошибок или правил для других страниц менеджер стилей не примет этот CSS, поэтому его можно только скопировать.",
  moreBy: (name) => `Другие работы: ${name}`,
  seeAll: "Показать все",
  back: "Все работы",
  retry: "Повторить",
  notFound: "Не найдено",
  notFoundText: "Такой страницы нет. Возможно, работу удалили.",
  removed: "Этого больше нет",
  removedText: "Эту работу убрали из галереи.",
  blocked: "Заблокировано",
  blockedText: "Эта работа заблокирована. Если вы ей пользуетесь, удалите её.",
  reason: (reason) => `Причина: ${reason}`,
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

/** The first of the browser's languages that the page has, with its region. */
const locale = navigator.languages.find((each) => /^(en|ru)\b/.test(each)) ?? "en";
export const language = locale.slice(0, 2);
export const texts = language === "ru" ? RUSSIAN : ENGLISH;

/** @param {number} seconds Unix time */
export const dateOf = (seconds) => new Intl.DateTimeFormat(locale, { dateStyle: "long" }).format(seconds * 1000);
/** @param {number} bytes */
export const sizeOf = (bytes) => {
  const [unit, value] = bytes < 1000 ? ["byte", bytes] : ["kilobyte", bytes / 1000];
  const unitDisplay = bytes < 1000 ? "long" : "short";
  return new Intl.NumberFormat(locale, { style: "unit", unit, unitDisplay, maximumSignificantDigits: 3 }).format(value);
};

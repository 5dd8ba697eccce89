/**
 * Слова о сервисе целиком по-русски: настройки, экспорт и сведения о программе.
 * @type {import("../../texts.js").Translated<typeof import("../en/service.js").default>}
 */
export default {
  "about.docs": "Интерфейс",
  "settings.hosts": "Хосты для картинок",
  "settings.hosts.add": "Хост",
  "settings.hosts.allow": "Разрешить",
  "settings.hosts.fixed": "Задан в конфигурации сервиса",
  "settings.hosts.form": "Например, i.example, *.example или i.example:8443",
  "settings.hosts.none": "Хостов пока нет. Перед загрузкой картинок с другого хоста предпросмотр спрашивает.",
  "settings.hosts.removed": "Хост {host} больше не разрешён для всех",
  "settings.hosts.text": "С этих хостов предпросмотр CSS загружает картинки без вопроса, у всех пользователей.",
  "settings.hosts.wrong": "Введите имя хоста, например i.example, *.example или i.example:8443.",
  "settings.page": "Страница для посетителей",
  "settings.page.done": "Страница для посетителей вот-вот изменится",
  "settings.page.text": "Что посетители читают на странице опубликованной галереи.",
  "settings.pictures.all": "Посмотреть сохранённые картинки, кто их прислал и где они используются",
  "settings.pictures.history": "Упоминается только в истории.",
  "settings.pictures.none": "Картинок пока нет",
  "settings.pictures.remove": "Удалить навсегда",
  "settings.pictures.remove.text": "Это нельзя отменить. Картинка пропадёт отовсюду, где используется, и тот же файл больше никогда не будет принят.",
  "settings.pictures.remove.title": "Удалить эту картинку навсегда?",
  "settings.pictures.removed": "Картинка удалена навсегда",
  "settings.pictures.text": "Картинки, которые нигде не используются, удаляются автоматически.",
  "settings.pictures.unnamed": "Нигде не используется и будет удалена.",
  "move.about": "Загрузить записи из файла или сохранить их в файл",
};

/** A date, written and read in the language of the console: a date field of the browser has the browser's. */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { day, language, t } from "../../texts.js";
import { IconButton } from "./basics.js";

/** The value of a date field of the browser, such as `2026-11-22`. @typedef {string} IsoDate */

const MONTHS = Array.from({ length: 12 }, (_, at) => at);

/**
 * @param {object} props
 * @param {string} props.id Of the field, for its label.
 * @param {IsoDate} props.value Empty for none.
 * @param {(date: IsoDate) => void} props.choose
 */
export function DateField({ id, value, choose }) {
  const [wrong, setWrong] = useState("");
  const picker = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => setWrong(""), [value]);
  /** @param {Event} event */
  const read = (event) => {
    const field = /** @type {HTMLInputElement} */ (event.currentTarget);
    const text = field.value.trim();
    const date = text && dateOf(text);
    setWrong(date === undefined ? text : "");
    if (date === undefined) return;
    field.value = written(date);
    choose(date);
  };
  return h("div", { class: "date-field" },
    h("input", {
      id,
      class: "input",
      autocomplete: "off",
      spellcheck: false,
      maxLength: 64,
      placeholder: day(Date.now() / 1000),
      value: wrong || written(value),
      "aria-invalid": wrong !== "",
      "aria-describedby": wrong ? `${id}-problem` : undefined,
      onChange: read,
    }),
    h("input", { ref: picker, type: "date", max: "9999-12-31", tabIndex: -1, "aria-hidden": true, value, onChange: (/** @type {Event} */ event) => choose(/** @type {HTMLInputElement} */ (event.currentTarget).value) }),
    h(IconButton, { icon: "Calendar", label: t("date.pick"), onClick: () => picker.current?.showPicker() }),
    wrong && h("p", { id: `${id}-problem`, class: "problem", role: "alert" }, t("date.wrong", { example: day(Date.now() / 1000) })),
  );
}

/** @param {IsoDate} date @returns {string} */
function written(date) {
  const [year = NaN, month = NaN, number] = date.split("-").map(Number);
  const at = new Date(year, month - 1, number).getTime();
  return Number.isNaN(at) ? "" : day(at / 1000);
}

/**
 * Read a date as people write it: with the name of the month, with numbers in the order of the language, or as ISO 8601.
 *
 * @param {string} text
 * @returns {IsoDate | undefined} without a year, the date of this year; undefined for what is no date from 1970 on
 */
function dateOf(text) {
  const words = text.toLowerCase().match(/\p{L}+|\d+/gu) ?? [];
  const numbers = words.filter((word) => /^\d+$/.test(word));
  const named = MONTHS.find((month) => words.some((word) => namesOf(month).includes(word.slice(0, 3))));
  const order = /^\d{4}/.test(text) ? ["year", "month", "day"] : orderOfLanguage();
  const parts = order.filter((part) => part !== "month" || named === undefined);
  const found = /** @type {Record<string, number>} */ (Object.fromEntries(numbers.map((number, at) => [parts[at] ?? "more", Number(number)])));
  const { year = new Date().getFullYear(), month = (named ?? NaN) + 1, day: number = NaN, more } = found;
  const whole = year < 100 ? year + 2000 : year;
  const date = new Date(whole, month - 1, number);
  const isDate = more === undefined && whole >= 1970 && whole <= 9999 && date.getMonth() === month - 1 && date.getDate() === number;
  return isDate ? [String(whole), ...[month, number].map((part) => String(part).padStart(2, "0"))].join("-") : undefined;
}

/** @returns {string[]} such as day, month and year */
const orderOfLanguage = () =>
  new Intl.DateTimeFormat(language.value, { dateStyle: "short" }).formatToParts().map(({ type }) => type).filter((type) => type !== "literal");

/** The month alone, and in a date, where some languages decline it. @type {Intl.DateTimeFormatOptions[]} */
const FORMS = [{ month: "long" }, { month: "long", day: "numeric" }];

/** @param {number} month @returns {(string | undefined)[]} how its names begin */
const namesOf = (month) =>
  FORMS.map((form) => {
    const parts = new Intl.DateTimeFormat(language.value, form).formatToParts(new Date(2000, month, 1));
    return parts.find(({ type }) => type === "month")?.value.slice(0, 3).toLowerCase();
  });

/** Bars in SVG: a number for each day, with a table behind them for who cannot see them or wants the numbers. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { day, number, t } from "../../texts.js";

/** Until it is known how much room there is. */
const WIDTH = 720;
/** What the name of a day takes. */
const NAME = 96;
const HEIGHT = 160;
const FOOT = 20;
const SIDE = 40;

/**
 * @typedef {object} Bar
 * @property {number} seconds Unix time of the day's beginning.
 * @property {number} count
 */

/**
 * Round marks of a scale: at most four above 0, of 1, 2 or 5 times a power of ten.
 *
 * @param {number} most The highest number shown.
 * @returns {number[]} from 0 up to one that is as high at least
 */
function marksUpTo(most) {
  const rough = Math.max(1, most / 4);
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = ([1, 2, 5, 10].find((each) => each * power >= rough) ?? 10) * power;
  return Array.from({ length: Math.max(1, Math.ceil(most / step)) + 1 }, (_, n) => n * step);
}

/**
 * @param {object} props
 * @param {Bar[]} props.bars In the order of the days.
 * @param {string} props.title The quantity that is shown.
 */
export function Plot({ bars, title }) {
  const id = useId();
  const figure = useRef(/** @type {HTMLElement | null} */ (null));
  const [width, setWidth] = useState(WIDTH);
  useEffect(() => {
    // Drawn in its own size, so that its letters are as large as others.
    const resized = new ResizeObserver(([entry]) => entry && setWidth(Math.max(160, Math.round(entry.contentRect.width))));
    if (figure.current) resized.observe(figure.current);
    return () => resized.disconnect();
  }, []);
  const total = bars.reduce((sum, { count }) => sum + count, 0);
  const most = bars.reduce((found, { count }) => Math.max(found, count), 0);
  const marks = marksUpTo(most);
  const top = marks.at(-1) ?? 1;
  const step = (width - SIDE) / Math.max(1, bars.length);
  const y = (/** @type {number} */ count) => HEIGHT - FOOT - (count / top) * (HEIGHT - FOOT - 8);
  // Some days are named below, so many as there is room for.
  const every = Math.max(1, Math.ceil((bars.length * NAME) / (width - SIDE)));
  return h(
    "figure",
    { class: "stack plot", ref: figure },
    h("figcaption", { id, class: "plot-title" }, title, h("span", { class: "plot-total" }, t("plot.total", { n: total }))),
    h(
      "svg",
      { viewBox: `0 0 ${width} ${HEIGHT}`, role: "img", "aria-labelledby": id, preserveAspectRatio: "xMidYMid meet" },
      marks.map((mark) => [
        h("line", { key: `line ${mark}`, class: "plot-line", x1: SIDE, x2: width, y1: y(mark), y2: y(mark) }),
        h("text", { key: `mark ${mark}`, class: "plot-mark", x: SIDE - 6, y: y(mark) + 4, "text-anchor": "end" }, number(mark)),
      ]),
      bars.map(({ seconds, count }, at) =>
        h(
          "rect",
          {
            key: seconds,
            class: "plot-bar",
            x: SIDE + at * step + step * 0.1,
            y: y(count),
            width: step * 0.8,
            height: Math.max(0, HEIGHT - FOOT - y(count)),
          },
          h("title", null, `${day(seconds)}: ${number(count)}`),
        ),
      ),
      bars.map(({ seconds }, at) =>
        at % every === 0 && SIDE + at * step + NAME * 0.75 <= width &&
        h("text", { key: `day ${seconds}`, class: "plot-mark", x: SIDE + at * step, y: HEIGHT - 4 }, day(seconds)),
      ),
    ),
    h(
      "details",
      { class: "plot-numbers" },
      h("summary", null, t("plot.numbers")),
      h(
        "div",
        { class: "box table-frame", role: "region", "aria-labelledby": id, tabIndex: 0 },
        h(
          "table",
          { class: "table" },
          h("thead", null, h("tr", null, h("th", { scope: "col" }, t("plot.day")), h("th", { scope: "col", class: "number" }, t("plot.count")))),
          h(
            "tbody",
            null,
            bars.toReversed().map(({ seconds, count }) =>
              h("tr", { key: seconds }, h("th", { scope: "row" }, day(seconds)), h("td", { class: "number" }, number(count))),
            ),
          ),
        ),
      ),
    ),
  );
}

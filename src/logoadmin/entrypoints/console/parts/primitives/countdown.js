/** Words with seconds in them that become fewer, for the eye; what reads aloud hears the first and the last. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { busyWords, describe, wordsOfWait } from "../../notices.js";

/** @param {number} until In milliseconds. @returns {number} how many seconds are left until then */
const left = (until) => Math.max(0, Math.ceil((until - Date.now()) / 1000));

/** @param {number} until In milliseconds; 0 for a moment that is over. @returns {number} how many seconds are left, now and as they pass */
export function useLeft(until) {
  const [seconds, setSeconds] = useState(left(until));
  useEffect(() => {
    setSeconds(left(until));
    if (left(until) === 0) return;
    const timer = setInterval(() => {
      setSeconds(left(until));
      if (left(until) === 0) clearInterval(timer);
    }, 250);
    return () => clearInterval(timer);
  }, [until]);
  return seconds;
}

/**
 * @param {object} props
 * @param {string} props.text The words at the beginning.
 * @param {number} props.until In milliseconds; 0 where nothing is counted.
 * @param {number} props.left How many seconds are left.
 * @param {((left: number) => string) | undefined} [props.words] The text with this number of seconds left, and with
 * none.
 */
export function Counted({ text, until, left: seconds, words = busyWords }) {
  if (until === 0) return text;
  if (seconds === 0) return words(0);
  return [h("span", { key: "seen", "aria-hidden": true }, words(seconds)), h("span", { key: "heard", class: "hidden" }, text)];
}

/** Why something could not be done, where it may be tried again. @param {import("../../client.js").Failure} failure @returns {{words: any, left: number}} with the seconds until then */
export function useFailure(failure) {
  const { until } = failure;
  const left = useLeft(until);
  return { words: h(Counted, { text: describe(failure), until, left, words: wordsOfWait(failure) }), left };
}

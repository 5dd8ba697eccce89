/** Where the picture of a field comes from: a file that is chosen, dropped on the field or pasted into it, or a copy of a picture at another address (contract P3). */
import { h, useEffect, useRef, useState } from "../../vendor/preact.js";
import { Failure } from "../../client.js";
import { describe } from "../../notices.js";
import { t, withTexts } from "../../texts.js";
import { Button, OrderButtons, pictureUrl } from "../primitives/basics.js";
import { FileButton, size, useGivenFiles } from "../primitives/files.js";
import { ownPicture, Picture } from "../primitives/picture.js";
import { keepCopy, keepFile } from "./fetching.js";

/** @typedef {import("./fetching.js").Kept} Kept */
/** @typedef {{words: () => string, failed: boolean, again?: (() => void) | undefined}} Outcome */

const ACCEPTED = "image/png,image/jpeg,image/gif,image/webp";
const loadWords = withTexts(() => import("./fetching.js"), "publication");

/** @param {{value: unknown, set: (url: string) => void, disabled: boolean, id?: string, within?: ".field" | "form"}} props `id`: of the button, where the label has no field. */
export function PictureSource({ value, set, disabled, id, within = ".field" }) {
  const place = useRef(/** @type {HTMLElement | null} */ (null));
  // Each belongs to one value of the field: another value ends the one and hides the other.
  const [work, setWork] = useState(/** @type {{words: string, sent?: number, stop: AbortController} | undefined} */ (undefined));
  const [outcome, setOutcome] = useState(/** @type {Outcome & {value: unknown} | undefined} */ (undefined));
  useEffect(() => () => work?.stop.abort(), [work?.stop, value]);
  const latest = useRef(set);
  latest.current = set;

  /** @param {string} words @param {(stop: AbortController) => Promise<Kept>} send @param {number} [before] Its size. */
  const run = async (words, send, before) => {
    const stop = new AbortController();
    setOutcome(undefined);
    setWork({ words, stop });
    try {
      const kept = await send(stop);
      if (stop.signal.aborted) return;
      latest.current(kept.url);
      setOutcome({ words: () => resultOf(kept, before), failed: false, value: kept.url });
    } catch (error) {
      if (stop.signal.aborted) return;
      if (!(error instanceof Failure)) throw error;
      const wordsOf = await loadWords().then((module) => module.pictureFailure, () => describe);
      setOutcome({ words: () => wordsOf(error), failed: true, value, again: error.passes ? () => void run(words, send, before) : undefined });
    } finally {
      setWork((now) => (now?.stop === stop ? undefined : now));
    }
  };
  /** @param {File} file */
  const take = (file) => {
    const { name } = file;
    const words = t("keep.sending", { name });
    const progress = (/** @type {AbortController} */ stop) => (/** @type {number} */ sent) =>
      setWork((now) => (now?.stop === stop ? { words: sent < 1 ? words : t("keep.converting", { name }), ...(sent < 1 ? { sent } : {}), stop } : now));
    void run(words, (stop) => keepFile(file, progress(stop), stop.signal), file.size);
  };
  useGivenFiles(place, { within, accepts: (type) => type !== "text/css", pasted: pictureIn, take: disabled ? undefined : take });
  if (disabled) return null;
  const url = String(value ?? "");
  const isElsewhere = pictureUrl(url) !== undefined && !ownPicture(url);
  const copy = () => void run(t("keep.copying"), ({ signal }) => keepCopy(url, signal));
  const shown = outcome && outcome.value === value && !work ? outcome : undefined;
  return h("div", { ref: place, class: "picture-source" },
    h("div", { class: "cluster" },
      h(FileButton, { id, accept: ACCEPTED, take }, t("keep.choose")),
      isElsewhere && h(Button, { icon: "CopyPlus", idle: Boolean(work), onClick: copy }, t("keep.copy")),
      !ownPicture(url) && h("span", { class: "hint" }, t("keep.drop")),
    ),
    h("div", { class: "picture-outcome", role: "status" },
      work && [
        h("span", { key: "words", class: "hint", dir: "auto" }, work.words),
        h("progress", { key: "progress", class: "progress", max: 1, value: work.sent, "aria-label": work.words }),
        h(Button, { key: "stop", tone: "quiet", onClick: () => (work.stop.abort(), setWork(undefined)) }, t("cancel")),
      ],
      shown && h("p", { key: "outcome", class: shown.failed ? "problem" : "hint", dir: "auto" }, shown.words()),
      shown?.again && h(Button, { key: "again", tone: "quiet", icon: "RefreshCw", onClick: shown.again }, t("tryAgain")),
    ),
  );
}

/** @param {Kept} kept @param {number} [before] @returns {string} its size, where known before and after, and its sides */
const resultOf = ({ size: after, width, height }, before) =>
  t(before === undefined ? "keep.copied" : "keep.kept", { before: size(before ?? 0), after: size(after), sides: `${width} × ${height}` });

/** @param {DataTransfer} data Of the clipboard. @returns {File | undefined} its picture; a table or a text from an office program comes with one of its own */
function pictureIn(data) {
  return data.types.includes("text/plain") ? undefined : [...data.files].find(({ type }) => type.startsWith("image/"));
}

/** @typedef {{url: string, alt?: string}} Screenshot */

const MOST = 8;
const LONGEST_ALT = 200;

/** The pictures of an artwork in their order, each with what it shows in words (contract S1). @param {WidgetProps} props */
export function Screenshots({ form, field, id, disabled }) {
  const all = /** @type {Screenshot[]} */ (form.values.value[field.name]);
  const set = (/** @type {Screenshot[]} */ shots) => form.set(field.name, shots);
  const describe = (/** @type {number} */ at, /** @type {string} */ alt) => set(all.map((each, n) => (n === at ? { url: each.url, ...(alt ? { alt } : {}) } : each)));
  const move = (/** @type {number} */ at, /** @type {number} */ by) => set(all.toSpliced(at, 1).toSpliced(at + by, 0, ...all.slice(at, at + 1)));
  return h("div", { class: "stack" },
    all.length > 0 &&
      h("ol", { class: "box divided" },
        all.map(({ url, alt = "" }, at) =>
          h("li", { key: url, class: "screenshot" },
            h(Picture, { url, alt }),
            h("input", {
              class: "input",
              value: alt,
              maxLength: LONGEST_ALT,
              disabled,
              dir: "auto",
              placeholder: t("screenshots.alt"),
              "aria-label": t("screenshots.alt.of", { n: at + 1 }),
              onInput: (event) => describe(at, event.currentTarget.value),
            }),
            !disabled && h(OrderButtons, { label: (what) => t(`screenshots.${what}`, { n: at + 1 }), at, count: all.length, move: (by) => move(at, by), take: () => set(all.toSpliced(at, 1)) }),
          ),
        ),
      ),
    all.length < MOST && h(PictureSource, { id, value: "", disabled, set: (/** @type {string} */ url) => set(all.some((each) => each.url === url) ? all : [...all, { url }]) }),
    disabled && all.length === 0 && h("p", { class: "hint" }, t("none")),
  );
}

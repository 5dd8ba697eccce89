/** The verdict of the service on the CSS that is shown, asked for as the user types; the last one stays until the next. */
import { signal, useEffect } from "../../vendor/preact.js";
import { Failure, call, returned } from "../../client.js";
import { PROPOSE } from "../../proposals.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";

/** @typedef {"logo" | "theme"} ArtworkKind */
/** @typedef {import("logoadmin/api").components["schemas"]["Verdict"]} Verdict */
/**
 * @typedef {object} Judged
 * @property {string} of The record, see `keyOf`.
 * @property {string} [css] The text that was judged.
 * @property {boolean} [isSaved] Whether it is that of the record.
 * @property {Verdict} [verdict]
 * @property {Failure} [failure] Why there is no newer one.
 */

/** How long after the last keystroke the service is asked, in milliseconds. */
const REST = 300;
/** @type {Record<ArtworkKind, (id: number, signal: AbortSignal) => Promise<Verdict>>} */
const READ = {
  logo: async (id, abort) => (await call("get", "/api/logos/{logo_id}/css", { path: { logo_id: id }, anonymous: true, signal: abort })).data,
  theme: async (id, abort) => (await call("get", "/api/themes/{theme_id}/css", { path: { theme_id: id }, anonymous: true, signal: abort })).data,
};

const last = signal(/** @type {Judged} */ ({ of: "" }));
const turn = signal(0);

/** @param {ArtworkKind} kind @param {number | undefined} id */
const keyOf = (kind, id) => `${kind} ${id ?? "new"}`;

/** @param {ArtworkKind} kind @param {number | undefined} id @returns {Judged} the last verdict on a record's CSS */
export const judgedOf = (kind, id) => (last.value.of === keyOf(kind, id) ? last.value : { of: keyOf(kind, id) });

/** @param {Verdict} verdict @returns {string[]} its hosts, and those of imports */
export const listedIn = ({ hosts, imports }) => [...hosts, ...imports.map(({ url }) => url).filter((url) => URL.canParse(url, location.href)).map((url) => new URL(url, location.href).host)];

/** Ask again. */
export const judgeAgain = () => void (turn.value += 1);

/**
 * Keep the verdict on a text up to date while this is shown.
 *
 * @param {ArtworkKind} kind
 * @param {number | undefined} id None for a new record.
 * @param {string} css The text in the form.
 * @param {string} target The target in the form.
 * @param {{css: string, target: string}} saved What the service has.
 */
export function useJudgement(kind, id, css, target, saved) {
  const isSaved = id !== undefined && css === saved.css && target === saved.target;
  const mayAsk = isSaved || may(KINDS[kind].write) || may(PROPOSE);
  useEffect(() => {
    const of = keyOf(kind, id);
    const abort = new AbortController();
    const ask = async () => {
      try {
        const verdict = isSaved ? await READ[kind](id, abort.signal) : (await call("post", "/api/css/verdict", { body: { kind, custom_css: css, target }, signal: abort.signal })).data;
        if (!abort.signal.aborted) last.value = { of, css, isSaved, verdict };
      } catch (error) {
        if (abort.signal.aborted) return;
        if (!(error instanceof Failure)) throw error;
        last.value = { ...judgedOf(kind, id), failure: error };
      }
    };
    const timer = mayAsk ? setTimeout(() => void ask(), isSaved ? 0 : REST) : undefined;
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [kind, id, css, target, isSaved, mayAsk, returned.value, turn.value]);
}

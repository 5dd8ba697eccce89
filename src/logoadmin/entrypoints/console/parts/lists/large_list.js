/** A list that the service filters and sorts, read page by page while the user scrolls (contract E2, E3, E5). */
import { h, signal, useEffect, useLayoutEffect, useMemo, useRef } from "../../vendor/preact.js";
import { call, Failure, returned } from "../../client.js";
import { KINDS, listOf, readList } from "../../records.js";
import { query, restored } from "../../router.js";
import { t } from "../../texts.js";
import { ReadOn } from "../primitives/pages.js";
import { serviceOrder } from "./toolbar.js";

const PAGE = 200;
/** The longest page of the service. */
const LONGEST = 1000;
/** Milliseconds after a change of the search. */
const DELAY = 150;

/** @typedef {"logo" | "theme"} Kind */
/** @typedef {{records: any[] | undefined, hasMore: boolean, failure: Failure | undefined}} State */
/** @typedef {State & {authors: any[], again: () => void}} View Its authors are those to filter by. */

/** The pages of one search that have been read. */
class Pages {
  state = signal(/** @type {State} */ ({ records: undefined, hasMore: false, failure: undefined }));
  #turn = 0;
  #isReading = false;

  /** @param {Kind} kind @param {Record<string, unknown>} filters With the order. */
  constructor(kind, filters) {
    this.kind = kind;
    this.filters = filters;
  }

  /** Read as many records again as there are. */
  async read() {
    const turn = (this.#turn += 1);
    const wanted = Math.max(PAGE, this.state.value.records?.length ?? 0);
    /** @type {any[]} */
    let records = [];
    await this.#attempt(turn, async () => {
      for (let hasMore = true; hasMore && records.length < wanted; ) {
        const page = await this.#page(records, Math.min(LONGEST, wanted - records.length));
        if (turn !== this.#turn) return;
        records = [...records, ...page.data];
        hasMore = page.next !== "";
        if (!hasMore || records.length >= wanted) this.state.value = { records, hasMore, failure: undefined };
      }
    });
  }

  async more() {
    const { records, hasMore } = this.state.value;
    if (this.#isReading || !records || !hasMore) return;
    const turn = this.#turn;
    await this.#attempt(turn, async () => {
      const page = await this.#page(records, PAGE);
      if (turn === this.#turn) this.state.value = { records: [...records, ...page.data], hasMore: page.next !== "", failure: undefined };
    });
  }

  /** @param {number} turn @param {() => Promise<void>} work */
  async #attempt(turn, work) {
    this.#isReading = true;
    try {
      await work();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      // The record after which it would continue has been removed.
      if (error.kind === "missing" && this.state.value.records) void this.read();
      else if (turn === this.#turn) this.state.value = { ...this.state.value, failure: error };
    } finally {
      this.#isReading = false;
    }
  }

  /** @param {any[]} before @param {number} limit */
  #page(before, limit) {
    const { list, id } = KINDS[this.kind];
    const after = before.at(-1)?.[id];
    return call("get", list, { anonymous: true, query: /** @type {any} */ ({ ...this.filters, versions: true, limit, after }) });
  }
}

/**
 * @param {object} props
 * @param {Kind} props.kind
 * @param {Record<string, unknown>} props.filters Those of the service, with the search.
 * @param {(view: View | undefined) => void} props.take Shows them.
 */
export function LargeList({ kind, filters, take }) {
  const key = JSON.stringify([filters, query("order")]);
  const held = restored(`pages.${kind}`, () => ({ key: "", pages: /** @type {Pages | undefined} */ (undefined) }));
  const last = useRef(/** @type {any[] | undefined} */ (undefined));
  const pages = useMemo(() => {
    if (!held.pages || held.key !== key) Object.assign(held, { key, pages: new Pages(kind, { ...filters, ...serviceOrder(query("order")) }) });
    return /** @type {Pages} */ (held.pages);
  }, [kind, key]);
  const list = listOf(kind).value;
  useEffect(() => {
    const timer = setTimeout(() => void pages.read(), last.current ? DELAY : 0);
    return () => clearTimeout(timer);
  }, [pages, list, returned.value]);
  useEffect(() => void readList("author"), []);
  const state = pages.state.value;
  const authors = listOf("author").value.records;
  if (state.records) last.current = state.records;
  useLayoutEffect(() => take({ ...state, records: last.current, authors: authors ?? [], again: () => void pages.read() }), [pages, state, authors]);
  useEffect(() => () => take(undefined), []);
  return state.hasMore && h(ReadOn, { key: state.records?.length, more: () => void pages.more() }, t("list.more"));
}

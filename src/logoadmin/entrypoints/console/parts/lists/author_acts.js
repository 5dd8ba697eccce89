/** What can be done with the selected authors: merged into one of them, or removed. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { say, sayDone, sayFailure } from "../../notices.js";
import { nameOf, namesOf } from "../../presentation.js";
import { KINDS, listOf, readList } from "../../records.js";
import { byName, number, t } from "../../texts.js";
import { Button, Form, Skeleton, Unread } from "../primitives/basics.js";
import { Dialog } from "../primitives/dialog.js";
import { askWhy, DialogEnd, Why } from "../primitives/form_dialog.js";
import { MOST } from "./selection.js";
import { Pick } from "./toolbar.js";
import { ACTIONS, doMany } from "./bulk_run.js";

/** @param {{chosen: any[], selection: ListSelection}} props */
export function AuthorActs({ chosen, selection }) {
  const [isMerging, setMerging] = useState(false);
  const { write } = KINDS.author;
  const remove = async () => {
    const title = t("bulk.remove.authors", { n: chosen.length });
    const text = t("bulk.remove.authors.text", { names: namesOf("author", chosen) });
    const note = await askWhy({ title, text, yes: t("remove"), no: t("cancel"), tone: "danger" });
    if (note !== undefined) void doMany("author", { ...ACTIONS.remove, note }, chosen, selection);
  };
  return [
    h(Button, { key: "merge", icon: "Users", scope: write, reason: chosen.length < 2 ? t("merge.authors.one") : undefined, onClick: () => setMerging(true) }, t("merge.authors")),
    h(Button, { key: "remove", icon: "Trash", scope: write, tone: "danger", onClick: () => void remove() }, t("remove")),
    h(Button, { key: "none", icon: "X", tone: "quiet", onClick: () => selection.set([]) }, t("bulk.none")),
    isMerging && h(MergeAuthors, { key: "dialog", authors: chosen, choices: chosen, close: () => setMerging(false), done: () => selection.set([]) }),
  ];
}

/** @typedef {Records["author"]} Author */

const ARTWORKS = /** @type {const} */ (["logo", "theme"]);
const LISTS = /** @type {const} */ (["logo", "theme", "author"]);

/** Several authors become one: their logos and themes name that one, and the others are removed, all by one request (contract J7). @param {{authors: Author[], choices: Author[], close: () => void, done: (into: Author) => void}} props One of the `choices` stays. */
export function MergeAuthors({ authors, choices, close, done }) {
  const [isRead, setRead] = useState(false);
  const [wanted, choose] = useState("");
  const [note, setNote] = useState("");
  const [failure, setFailure] = useState(/** @type {Failure | undefined} */ (undefined));
  const read = async () => {
    const failed = await readAll();
    setFailure(failed);
    setRead(!failed);
  };
  useEffect(() => void read(), []);
  const byWorks = choices.toSorted((a, b) => worksOf([b]).length - worksOf([a]).length || byName(a.username, b.username));
  const into = choices.find((each) => String(each.author_id) === wanted) ?? byWorks[0];
  const gone = authors.filter((each) => each.author_id !== into?.author_id);
  const works = worksOf(gone);
  const isTooMany = works.length + gone.length > MOST;
  const submit = () => {
    if (!into || isTooMany) return;
    close();
    void merge(gone, into, note.trim(), () => done(into));
  };
  return h(Dialog, { title: t("merge.authors.title", { n: authors.length }), close },
    h(Form, { send: submit },
      h(Pick, { label: t("merge.authors.into"), value: String(into?.author_id), choices: byWorks.map((each) => /** @type {const} */ ([String(each.author_id), `${nameOf("author", each)} (${number(worksOf([each]).length)})`])), pick: choose }),
      failure && h(Unread, { failure, again: () => void read() }),
      isRead ? h("p", { role: "status" }, t(isTooMany ? "merge.authors.many" : "merge.authors.text", { n: works.length, into: into ? nameOf("author", into) : "", most: MOST })) : !failure && h(Skeleton, {}),
      h(Why, { value: note, change: setNote }),
      h(DialogEnd, { close, yes: t("merge.authors"), idle: !isRead || isTooMany || gone.length === 0 }),
    ),
  );
}

/** Read all lists, and all of each: an unknown work would lose its author. @returns {Promise<Failure | undefined>} why one cannot be read */
async function readAll() {
  await Promise.all(LISTS.map(readList));
  return LISTS.map((kind) => listOf(kind).value.failure).find(Boolean);
}

/** @param {Author[]} authors @returns {{kind: typeof ARTWORKS[number], record: any}[]} what they made */
function worksOf(authors) {
  const ids = new Set(authors.map((each) => each.author_id));
  const isTheirs = (/** @type {any} */ record) => record.authors.some((/** @type {Author} */ author) => ids.has(author.author_id));
  return ARTWORKS.flatMap((kind) => (listOf(kind).value.records ?? []).filter(isTheirs).map((record) => ({ kind, record })));
}

/** @param {Author[]} gone @param {Author} into @param {string} note Why. @param {() => void} done @param {() => Promise<any>} [repeat] Sends the request again, whose answer was lost. */
async function merge(gone, into, note, done, repeat) {
  const afterwards = () => void LISTS.map(readList);
  const again = async () => {
    const failure = await readAll();
    if (failure) sayFailure(failure, () => void again());
    else await merge(gone, into, note, done);
  };
  const failed = () => say(t("merge.authors.changed"), { tone: "failed", action: { text: t("tryAgain"), run: () => void again() } });
  const more = { body: /** @type {any} */ ({ changes: changesOf(gone, into) }), ...(note ? { note } : {}) };
  try {
    const { data, requestId } = await (repeat ?? (() => call("post", "/api/changes", more)))();
    // A work credited to them meanwhile would lose its author, and no version shows that.
    if (data.some((/** @type {any} */ { kind, before }) => kind === "author" && before.logos.length + before.themes.length > 0)) {
      await call("post", "/api/changes/revert", { body: { request_id: requestId } });
      return void failed();
    }
    sayDone(t("merge.authors.done", { n: gone.length, into: nameOf("author", into) }), [requestId], afterwards);
    done();
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    if (error.kind === "missing" || error.kind === "outdated") failed();
    else sayFailure(error, () => void (error.kind === "unknown" ? merge(gone, into, note, done, error.repeat) : again()));
  } finally {
    afterwards();
  }
}

/** @param {Author[]} gone @param {Author} into @returns {object[]} what a bulk change takes */
function changesOf(gone, into) {
  const ids = new Set(gone.map((each) => each.author_id));
  const works = worksOf(gone).map(({ kind, record }) => {
    const id = record[KINDS[kind].id];
    const authorIds = record.authors.map((/** @type {Author} */ each) => (ids.has(each.author_id) ? into.author_id : each.author_id));
    // The first place of several.
    return { kind, id, version: record.version, set: { author_ids: [...new Set(authorIds)] } };
  });
  /** @type {any[]} */
  const listed = listOf("author").value.records ?? [];
  const versions = new Map(listed.map((each) => [each.author_id, each.version]));
  return [...works, ...gone.map(({ author_id: id }) => ({ kind: "author", id, version: versions.get(id) ?? 0, remove: true }))];
}

/** The style sheets that CSS imports: readers get the copies that were pinned, until somebody accepts what changed. */
import { h, useMemo, useState } from "../../vendor/preact.js";
import { call, Failure, returned } from "../../client.js";
import { say, sayDone, sayFailure } from "../../notices.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t, withTexts } from "../../texts.js";
import { DiffRows } from "../diff/diff.js";
import { Button, Time, Unread, rich } from "../primitives/basics.js";
import { useRead } from "../primitives/use_read.js";
import { ask } from "../primitives/dialog.js";
import { lazy } from "../primitives/lazy.js";
import { Copies, newsOf } from "./copies.js";
import { rowsOf } from "./unified_diff.js";

/** @typedef {"logo" | "theme"} ArtworkKind */
/** @typedef {import("logoadmin/api").components["schemas"]["PinnedImport"]} Pin */
/** @typedef {import("../../client.js").Answer<Pin[]>} Answer */

/** @type {Record<ArtworkKind, (id: number, signal: AbortSignal) => Promise<import("../../client.js").Answer<import("./copies.js").PinnedCopies>>>} */
const COPIES = {
  logo: (id, signal) => call("get", "/api/logos/{logo_id}/pins/copies", { path: { logo_id: id }, signal }),
  theme: (id, signal) => call("get", "/api/themes/{theme_id}/pins/copies", { path: { theme_id: id }, signal }),
};
/** @type {Record<ArtworkKind, {read: (id: number, signal: AbortSignal) => Promise<Answer>, check: (id: number) => Promise<Answer>, accept: (id: number, offered: Record<string, string>) => Promise<Answer>}>} */
const PINS = {
  logo: {
    read: (id, signal) => call("get", "/api/logos/{logo_id}/pins", { path: { logo_id: id }, signal }),
    check: (id) => call("post", "/api/logos/{logo_id}/pins/check", { path: { logo_id: id } }),
    accept: (id, offered) => call("post", "/api/logos/{logo_id}/pins/accept", { path: { logo_id: id }, body: { offered } }),
  },
  theme: {
    read: (id, signal) => call("get", "/api/themes/{theme_id}/pins", { path: { theme_id: id }, signal }),
    check: (id) => call("post", "/api/themes/{theme_id}/pins/check", { path: { theme_id: id } }),
    accept: (id, offered) => call("post", "/api/themes/{theme_id}/pins/accept", { path: { theme_id: id }, body: { offered } }),
  },
};

const PinFailure = lazy(withTexts(() => import("./pin_failure.js").then((module) => module.PinFailure), "publication"));
/** As the service calls all documents in `data:` URLs, which are accepted together. */
const DOCUMENTS = "data:";
/** The number listed: the service fetches at most twenty. */
const LISTED = 40;

/**
 * @param {object} props
 * @param {ArtworkKind} props.kind
 * @param {number} props.recordId
 * @param {string[]} props.imports As the CSS names them.
 * @param {string} props.saved The CSS that the service has.
 * @param {() => void} props.changed Reads again what depends on the pins.
 */
export function Imports({ kind, recordId, imports, saved, changed }) {
  const { write } = KINDS[kind];
  const isAllowed = may(write);
  const read = useRead(async (signal) => (isAllowed ? (await PINS[kind].read(recordId, signal)).data : []), [kind, recordId, saved, isAllowed]);
  const { busy, complaint, pins, run } = useWork(read);
  const documents = pins?.filter(({ url }) => url === DOCUMENTS) ?? [];
  const shown = [...new Set(imports)].filter((url) => url !== DOCUMENTS).map((url) => ({ url, pin: pins?.find((each) => each.url === url) }));
  const changes = [...documents.map((pin) => ({ url: DOCUMENTS, pin })), ...shown].flatMap(({ url, pin }) => (pin?.offered ? [/** @type {const} */ ([url, pin.offered])] : []));
  const offer = changes.map(([, sha256]) => sha256).join();
  const copies = useRead(async (signal) => (offer ? (await COPIES[kind](recordId, signal)).data : undefined), [kind, recordId, saved, offer]);
  const check = () =>
    run("check", () => PINS[kind].check(recordId), ({ data }) => {
      if (data.every(({ offered, failure }) => !offered && !failure)) say(t("imports.same"));
      changed();
    });
  const accept = async () => {
    const news = copies.data ? newsOf(copies.data) : [];
    if (documents.some(({ offered }) => offered)) news.push(t("verdict.document"));
    const text = news.length > 0 ? `${t("imports.news")} ${news.join(" ")}` : t("imports.new.none");
    if (!(await ask({ title: t("imports.accept.ask", { n: changes.length }), text, yes: t("imports.accept", { n: changes.length }), no: t("cancel"), tone: news.length > 0 ? "danger" : "primary" }))) return;
    await run("accept", () => PINS[kind].accept(recordId, Object.fromEntries(changes)), ({ requestId }) => {
      sayDone(t("imports.accepted", { n: changes.length }), [requestId], () => void (returned.value += 1));
      changed();
    });
  };
  return h(
    "div",
    { class: "stack loose imports", tabIndex: -1 },
    shown.length > 0 && h("p", { class: "hint" }, t("imports.text")),
    !isAllowed && h("p", { class: "hint" }, t("needsScope", { scope: write })),
    read.failure && !pins && h(Unread, { failure: read.failure, again: () => void read.again() }),
    h(
      "ul",
      { class: "box divided", "aria-label": t("imports.list") },
      documents.map((pin) => h("li", { key: DOCUMENTS, class: "stack row" }, h("h3", { class: "group-head" }, t("imports.documents")), h(Documents, { pin }))),
      shown.slice(0, LISTED).map(({ url, pin }) => h("li", { key: url, class: "stack row" }, h("bdi", { class: "host-name" }, url), isAllowed && pins && h(State, { pin, url }))),
      shown.length > LISTED && h("li", { key: "more", class: "row hint" }, t("andMore", { n: shown.length - LISTED })),
    ),
    offer && copies.data && h(Copies, { key: offer, kind, recordId, copies: copies.data }),
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    h(
      "div",
      { class: "cluster" },
      changes.length > 0 && h(Button, { tone: "primary", icon: "Check", scope: write, busy: busy === "accept", idle: busy === "check", onClick: () => void accept() }, t("imports.accept", { n: changes.length })),
      shown.length > 0 && h(Button, { icon: "RefreshCw", scope: write, busy: busy === "check", idle: busy === "accept", onClick: () => void check() }, t("imports.check")),
    ),
  );
}

/**
 * Send requests that return the pins, one after the other.
 * @param {{data: Pin[] | undefined, again: () => Promise<void>}} read
 */
function useWork({ data, again }) {
  const [busy, setBusy] = useState(/** @type {"" | "check" | "accept"} */ (""));
  const [complaint, setComplaint] = useState("");
  const [newer, setNewer] = useState(/** @type {{data: Pin[], since: Pin[] | undefined} | undefined} */ (undefined));
  /** @param {"check" | "accept"} what @param {() => Promise<Answer>} send @param {(answer: Answer) => void} took */
  const run = async (what, send, took) => {
    setBusy(what);
    setComplaint("");
    try {
      const answer = await send();
      setNewer({ data: answer.data, since: data });
      took(answer);
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      if (error.kind === "conflict") {
        setComplaint(t("imports.outdated"));
        await again();
      } else sayFailure(error, () => void run(what, error.repeat ?? send, took));
    } finally {
      setBusy("");
    }
  };
  // A later read is newer.
  return { busy, complaint, run, pins: newer && newer.since === data ? newer.data : data };
}

/** What Firefox loads other files out of. @param {{pin: Pin}} props */
function Documents({ pin: { offered, difference } }) {
  if (!offered) return h("p", { class: "hint" }, t("imports.documents.accepted"));
  return [
    h("p", { key: "offered", class: "remark" }, t("imports.documents.offered")),
    difference && h(Difference, { key: "difference", difference, url: t("imports.documents") }),
  ];
}

/** @param {{pin: Pin | undefined, url: string}} props */
function State({ pin, url }) {
  if (typeof pin?.checked_at !== "number") return h("p", { class: "hint" }, t("imports.waiting"));
  const { sha256, offered, failure, checked_at: checkedAt, difference } = pin;
  const when = { when: h(Time, { seconds: checkedAt }) };
  return [
    h("p", { key: "state", class: sha256 ? "hint" : "problem" }, rich(sha256 ? "imports.pinned" : "imports.missing", when)),
    failure && h(PinFailure, { key: "failure", look: "problem", failure }),
    offered && h("p", { key: "offered", class: "remark" }, t("imports.changed")),
    offered && difference && h(Difference, { key: "difference", difference, url }),
  ];
}

/** What accepting would change. @param {{difference: string, url: string}} props */
function Difference({ difference, url }) {
  const { rows, isCut } = useMemo(() => rowsOf(difference), [difference]);
  return [h(DiffRows, { key: "rows", rows, label: t("imports.difference", { url }) }), isCut && h("p", { key: "cut", class: "hint" }, t("imports.cut"))];
}

/** How CSS will look on the site: in a frame that has no origin and contacts only the hosts of `Contacts`. */
import { effect, h, signal, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { call, Failure, returned } from "../../client.js";
import { isMember, PROPOSE } from "../../proposals.js";
import { KINDS } from "../../records.js";
import { FILES } from "../../router.js";
import { may, person, state } from "../../session.js";
import { fixedHosts, isPictureHost, OWN_HOSTS, shared, shareHosts, targetName, useShared } from "../../shared_settings.js";
import { enumeration, language, t } from "../../texts.js";
import { Button, pictureUrl, Segmented } from "../primitives/basics.js";
import { useEvents, useRead, useRested, useRun } from "../primitives/hooks.js";
import { ownPicture, takenDown } from "../primitives/picture.js";
import { contactsOf, isTooDeep, onAllPages, withheld } from "./css_hosts.js";

const FRAME = new URL("preview.html", FILES);
/** How long after a keystroke it is shown, in milliseconds. */
const REST = 120;
/** What may move, as far as the text shows. */
const MOVING = /animation|transition/i;
/** How long the frame may take to load, in milliseconds. */
const PATIENCE = 5000;
/** How many targets of the gallery are offered beside that of the record. */
const SAMPLES = 4;

/**
 * @param {object} props
 * @param {"logo" | "theme"} props.kind
 * @param {string} props.css
 * @param {string} props.target The part of the site that it is for.
 * @param {readonly string[] | undefined} props.listed The hosts that the service last found in it; it reaches no others.
 * @param {string} [props.picture] The URL of the record's picture.
 * @param {string} [props.label] Its name, where a view has several.
 */
export function Preview({ kind, css, target, listed, picture: url = "", label = t("preview") }) {
  useShared();
  const shown = useRested(css, REST);
  const isDeep = useMemo(() => isTooDeep(shown), [shown]);
  const picture = pictureUrl(url) && new URL(url).origin;
  const contacts = useMemo(() => {
    const found = contactsOf(isDeep ? "" : shown, location.protocol);
    return { ...found, picture, sheets: new Set(found.imports.map((each) => new URL(each.url).origin)) };
  }, [shown, picture]);
  const isAllowed = (/** @type {string} */ origin) => allowed.value.includes(origin);
  // Only the allowed hosts that this CSS contacts, as of the service's last answer: the frame's policy names no others.
  const reached = contacts.origins.filter((origin) => isAllowed(origin) && listed?.includes(new URL(origin).host));
  const [isPlaying, setPlaying] = useState(false);
  const [place, setPlace] = useState("");
  const [ground, setGround] = useState(/** @type {"light" | "dark"} */ ("light"));
  const samples = Object.keys(shared.value?.gallery_targets ?? {}).slice(0, SAMPLES);
  const targets = [...new Set([target, ...(samples.length ? samples : ["forum", "market"])])].filter(Boolean);
  const current = targets.includes(place) ? place : (targets[0] ?? "forum");
  const held = contacts.origins.filter((origin) => !isAllowed(origin) && !isLet(origin, contacts) && isReachable(origin));
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  // The button is gone.
  const stay = () => /** @type {HTMLElement | null | undefined} */ (list.current?.querySelector(".hosts"))?.focus();
  const show = () => {
    allow([...allowed.value, ...held]);
    stay();
  };
  const { run } = useRun();
  const trust = (/** @type {string[]} */ hosts) =>
    void run(async () => {
      await shareHosts(hosts, true, t("hosts.always.done", { n: hosts.length, hosts: enumeration(hosts) }));
      stay();
    });
  const isMoving = MOVING.test(shown) || contacts.imports.length > 0;
  return h("section", { class: "stack loose preview", "aria-label": label },
    h("div", { class: "spread preview-bar" },
      kind === "logo"
        ? h(Segmented, { label: t("field.target"), choices: targets.map((each) => [each, h("bdi", null, targetName(each)), each]), chosen: current, choose: setPlace })
        : h(Segmented, { label: t("preview.ground"), choices: [["light", t("sample.light")], ["dark", t("sample.dark")]], chosen: ground, choose: setGround }),
      isMoving && h("button", { type: "button", class: "button plain", "aria-pressed": isPlaying, onClick: () => setPlaying(!isPlaying) }, t(isPlaying ? "preview.rest" : "preview.play")),
    ),
    h("div", { class: "preview-stage" }, h(Frame, { kind, target: current, contacts, reached, url, isPlaying: isPlaying && isMoving, ground })),
    isDeep && h("p", { class: "hint", role: "status" }, t("preview.deep")),
    h("div", { ref: list }, !isDeep && h(Contacts, { contacts, reached, isAwaited: reached.length < contacts.origins.filter(isAllowed).length, held, show, trust })),
  );
}

/** @param {string} url Of the record's picture. @returns {string} its content, where it was taken down: the frame cannot fetch it */
function useTakenDown(url) {
  const [content, setContent] = useState({ url: "", data: "" });
  useEffect(() => {
    const own = ownPicture(url);
    if (!own) return undefined;
    const stop = new AbortController();
    const image = Object.assign(new Image(), { referrerPolicy: "no-referrer", src: own.thumbnail });
    image.onerror = async () => {
      const blob = await takenDown(own.picture, stop.signal).catch(() => undefined);
      if (!blob) return;
      const reader = new FileReader();
      reader.onload = () => stop.signal.aborted || setContent({ url, data: String(reader.result) });
      reader.readAsDataURL(blob);
    };
    return () => stop.abort();
  }, [url]);
  return content.url === url ? content.data : "";
}

/** @param {{kind: ArtworkKind, target: string, contacts: Contacting, reached: string[], url: string, isPlaying: boolean, ground: "light" | "dark"}} props `url` is that of the record's picture. */
function Frame({ kind, target, contacts, reached, url, isPlaying, ground }) {
  const frame = useRef(/** @type {HTMLIFrameElement | null} */ (null));
  const [state, setState] = useState(/** @type {"loading" | "ready" | "heavy" | "failed"} */ ("loading"));
  const imports = contacts.imports.filter(({ url }) => reached.includes(new URL(url).origin));
  const picture = useTakenDown(url);
  // The policy of the frame would forbid it, and complain: what shall not be asked for is not in what it shows.
  const css = useMemo(() => {
    const isReached = (/** @type {string} */ origin, /** @type {boolean} */ isFont) => reached.includes(origin) || (!isFont && isShown(origin, contacts));
    const rest = onAllPages(withheld(contacts.rest, isReached, location.protocol));
    return picture ? rest.replaceAll(url, picture) : rest;
  }, [contacts, reached, picture]);
  // A sheet that is adopted takes no imports; they come before it.
  const message = { kind, css, target, imports, isPlaying, language: language.value };
  const latest = useRef(message);
  latest.current = message;
  // The frame has no origin that could be named; the message is not secret.
  const send = () => frame.current?.contentWindow?.postMessage(latest.current, "*");
  useEvents(window, "message", ({ source, data }) => {
    if (source === null || source !== frame.current?.contentWindow) return;
    setState(data === "heavy" ? "heavy" : "ready");
    if (data === "ready") send();
  });
  useEffect(() => void send(), [JSON.stringify(message)]);
  const src = new URL(FRAME);
  for (const origin of reached) src.searchParams.append("reach", origin);
  for (const origin of contacts.origins) {
    // The policy names those of the configuration anyway.
    if (isReachable(origin) && isShown(origin, contacts) && !isPictureHost(origin, fixedHosts)) src.searchParams.append("picture", origin);
  }
  useEffect(() => {
    setState("loading");
    const timer = setTimeout(() => setState((now) => (now === "loading" ? "failed" : now)), PATIENCE);
    return () => clearTimeout(timer);
  }, [src.href]);
  const isFailed = state === "failed";
  const page = h("iframe", {
    // Another address is another page, with a policy of its own.
    key: src.href,
    ref: frame,
    class: `preview-frame preview-${kind}`,
    title: t(kind === "logo" ? "preview.ofLogo" : "preview.ofTheme"),
    src: src.href,
    hidden: isFailed,
    sandbox: "allow-scripts",
    referrerPolicy: "no-referrer",
    // The frame's own media queries follow it.
    style: { colorScheme: kind === "theme" ? ground : "normal" },
  });
  return [
    page,
    state === "heavy" && h("p", { class: "hint", role: "status" }, t("preview.heavy")),
    isFailed && h("p", { class: "hint preview-failed", role: "status" }, t("preview.failed")),
  ];
}

/**
 * @typedef {object} Judged
 * @property {string} of The record, see `keyOf`.
 * @property {string} [css] The text that was judged.
 * @property {boolean} [isSaved] Whether it is that of the record.
 * @property {Verdict} [verdict]
 * @property {Failure} [failure] Why there is no newer one.
 */

/** How long after the last keystroke the service is asked, in milliseconds. */
const TYPING_REST = 300;

const last = signal(/** @type {Judged} */ ({ of: "" }));
const turn = signal(0);

/** @param {ArtworkKind} kind @param {number | undefined} id */
const keyOf = (kind, id) => `${kind} ${id ?? "new"}`;

/** The verdict of the service on the CSS that is shown, asked for as the user types; the last one stays until the next. @param {ArtworkKind} kind @param {number | undefined} id @returns {Judged} the last verdict on a record's CSS */
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
        const { one, id: name } = KINDS[kind];
        /** @returns {Promise<Answer>} */
        const ofRecord = () => call("get", /** @type {any} */ (`${one}/css`), /** @type {any} */ ({ path: { [name]: id }, anonymous: true, signal: abort.signal }));
        const { data: verdict } = await (isSaved ? ofRecord() : call("post", "/api/css/verdict", { body: { kind, custom_css: css, target }, signal: abort.signal }));
        if (!abort.signal.aborted) last.value = { of, css, isSaved, verdict };
      } catch (error) {
        if (abort.signal.aborted) return;
        if (!(error instanceof Failure)) throw error;
        last.value = { ...judgedOf(kind, id), failure: error };
      }
    };
    const timer = mayAsk ? setTimeout(() => void ask(), isSaved ? 0 : TYPING_REST) : undefined;
    return () => {
      clearTimeout(timer);
      abort.abort();
    };
  }, [kind, id, css, target, isSaved, mayAsk, returned.value, turn.value]);
}

/** How the site looks with a logo or theme as it was, and as it is. @param {{kind: "logo" | "theme", then: NonNullable<Snapshot>, now: NonNullable<Snapshot>}} props */
export function VersionPreviews({ kind, then, now }) {
  return h("div", { class: "pair" }, h(Version, { label: t("version.then"), kind, state: then }), h(Version, { label: t("version.now"), kind, state: now }));
}

/** @param {{label: string, kind: "logo" | "theme", state: Record<string, any>}} props */
function Version({ label, kind, state: { custom_css: css, target, preview_url: picture } }) {
  const { data } = useRead(async (signal) => (css ? (await call("post", "/api/css/verdict", { body: { kind, custom_css: css, target }, signal })).data : undefined), [kind, css, target]);
  return h("figure", null, h("figcaption", { class: "label" }, label), h(Preview, { label: `${t("preview")}: ${label}`, kind, css, target, picture, listed: data && listedIn(data) }));
}

/**
 * Which hosts the preview may contact: for pictures, those that are allowed for everybody and that of the record's own
 * picture, which is shown beside it anyway; for everything, those that the user allows by name.
 *
 * @typedef {import("./css_hosts.js").Contacts & {picture?: string | undefined, sheets: Set<string>}} Contacting `picture` is
 *   the origin of the record's picture, and `sheets` are those of imports.
 */

/** What can be named in the policy of the frame: as in `routes.py`, for browsers take no address of IPv6 there. */
const NAMEABLE = /^https?:\/\/[a-z0-9.-]+(:\d+)?$/;

const STORED = "logoadmin.hosts";
/** @returns {string[]} what the user allowed in this tab; another user starts with none */
const stored = () => {
  const { user, origins } = JSON.parse(sessionStorage.getItem(STORED) ?? "{}");
  return user === person() ? (origins ?? []) : [];
};
/** The origins that the user allowed for the session, whichever record they are looking at. */
export const allowed = signal(stored());
effect(() => {
  // The list is removed at sign-out; another user starts with an empty one.
  if (state.value === "out") sessionStorage.removeItem(STORED);
  allowed.value = stored();
});

/** @param {string[]} origins */
export function allow(origins) {
  sessionStorage.setItem(STORED, JSON.stringify({ user: person(), origins }));
  allowed.value = origins;
}

/** @param {string} origin @returns {boolean} whether a click could let the frame reach it */
const isReachable = (origin) => NAMEABLE.test(origin);

/** @param {string} origin @param {Contacting} contacts @returns {boolean} whether pictures from there need no permission */
const isShown = (origin, { picture }) => origin === picture || isPictureHost(origin);

/** @param {string} origin @param {Contacting} contacts @returns {boolean} whether its content needs no permission */
function isLet(origin, contacts) {
  return isShown(origin, contacts) && !contacts.fonts.includes(origin) && !contacts.sheets.has(origin);
}

/** @param {string} origin @param {Contacting} contacts @param {readonly string[]} reached @returns {TextKey} whether it is contacted, and why */
function stateOf(origin, contacts, reached) {
  if (!isReachable(origin)) return "hosts.never";
  if (isLet(origin, contacts)) return isPictureHost(origin) ? "hosts.allowed" : "hosts.shown";
  return reached.includes(origin) ? "hosts.reached" : "hosts.held";
}

/** Whether it helps to allow its pictures for everybody. @param {string} origin @param {Contacting} contacts */
const isShareable = (origin, contacts) => isReachable(origin) && !isShown(origin, contacts) && !contacts.fonts.includes(origin) && !contacts.sheets.has(origin);
/** @param {string} origin */
const hostOf = (origin) => new URL(origin).host;

/**
 * Every host that the CSS contacts, and the ways to let the preview contact those that it does not.
 *
 * @param {object} props
 * @param {Contacting} props.contacts
 * @param {string[]} props.reached
 * @param {boolean} props.isAwaited Whether the service has not listed all of these yet.
 * @param {string[]} props.held Those that a click could let in.
 * @param {() => void} props.show Lets all of them in, which are named here, for the session.
 * @param {(hosts: string[]) => void} props.trust Allows them for everybody.
 */
export function Contacts({ contacts, reached, isAwaited, held, show, trust }) {
  const { imports, fonts, own } = contacts;
  // Pictures of the gallery itself are shown as long as the record's own picture is one.
  const origins = contacts.origins.filter((origin) => !(OWN_HOSTS.includes(hostOf(origin)) && isLet(origin, contacts)));
  const shareable = origins.filter((origin) => isShareable(origin, contacts)).map(hostOf);
  if (!origins.length && !own) return h("p", { class: "hint" }, t("hosts.contacts.none"));
  return h("div", { class: "box stack hosts", tabIndex: -1 },
    origins.length > 0 && h("p", { class: "label" }, t("hosts.contacts", { n: origins.length })),
    h("ul", { class: "stack hosts-list" },
      origins.map((origin) =>
        h("li", { key: origin, class: "spread host" },
          h("span", { class: "host-name" },
            h("bdi", null, origin.replace(/^https:\/\//, "")),
            contacts.sheets.has(origin) && h("span", { class: "tag" }, t("hosts.imported")),
            fonts.includes(origin) && h("span", { class: "tag" }, t("hosts.font")),
          ),
          h("span", { class: "hint" }, t(stateOf(origin, contacts, reached))),
        ),
      ),
    ),
    imports.length > 0 && h("p", { class: "hint" }, t("hosts.importHint")),
    own && h("p", { class: "hint" }, t("hosts.own")),
    isAwaited && h("p", { class: "hint", role: "status" }, t("hosts.awaited")),
    held.length + shareable.length > 0 &&
      h("div", { class: "cluster" },
        held.length > 0 && h(Button, { tone: "primary", icon: "Image", onClick: show }, t("hosts.show")),
        shareable.length > 0 && !isMember() && h(Button, { scope: "*", onClick: () => trust(shareable) }, t("hosts.always")),
      ),
  );
}

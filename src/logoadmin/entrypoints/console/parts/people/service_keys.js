/** Keys by which scripts use the service in one's name; each is shown once. */
import { h, useEffect, useMemo, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { FormState } from "../../form.js";
import { describe, say } from "../../notices.js";
import { allWords } from "../../scopes.js";
import { me } from "../../session.js";
import { day, enumeration, t } from "../../texts.js";
import { Button, dotted, Pending, Time } from "../primitives/basics.js";
import { useOffer, useRead, useRun } from "../primitives/hooks.js";
import { RecordForm, Select, widgets } from "../primitives/fields.js";
import { ask } from "../primitives/dialog.js";
import "./scopes.js";
import { ShownOnce } from "./access.js";

const DAY = 86_400;
/** After how many days a key ends; 0 means never. */
const LIFETIMES = [7, 30, 90, 365, 0];
const USUAL = 90;
/** @type {Field[]} */
const FIELDS = [
  { name: "name", label: "key_name", schema: { type: "string", minLength: 1, maxLength: 64 }, required: true, nullable: false, widget: "text" },
  { name: "scope", label: "key_scope", schema: { type: "array" }, required: true, nullable: false, widget: "scope" },
  { name: "expires_in", label: "key_expires", schema: {}, required: true, nullable: true, widget: "lifetime" },
];

export function MyKeys() {
  const { data, failure, again } = useRead(async (signal) => (await call("get", "/api/auth/keys", { signal })).data);
  const [making, setMaking] = useState(false);
  const [made, setMade] = useState("");
  const isMaking = making || made !== "";
  const wasMaking = useRef(false);
  const maker = useRef(/** @type {HTMLDivElement | null} */ (null));
  const goOn = () => maker.current?.querySelector("button")?.focus();
  useEffect(() => {
    if (wasMaking.current && !isMaking) goOn();
    wasMaking.current = isMaking;
  }, [isMaking]);
  const after = async () => {
    await again();
    // Somebody may have gone on meanwhile.
    if (document.activeElement === document.body) goOn();
  };
  const { run } = useRun({ after });
  if (!data) return h(Pending, { failure, again });
  /** @param {Schemas["ServiceKey"]} key */
  const end = async ({ key_id: id, name }) => {
    const sure = { title: t("keys.end.title", { name }), text: t("keys.end.text"), yes: t("keys.end"), no: t("cancel"), tone: /** @type {const} */ ("danger") };
    if (await ask(sure)) await run(() => call("delete", "/api/auth/keys/{key_id}", { path: { key_id: id } }), () => say(t("keys.ended", { name })));
  };
  return h("div", { class: "stack loose" },
    h("p", { class: "hint" }, t("keys.hint")),
    data.length > 0 && h("ul", { class: "box divided rows" }, data.map((key) => h(KeyRow, { key: key.key_id, its: key, end: () => void end(key) }))),
    making
      ? h(NewKey, {
          close: () => setMaking(false),
          made: (/** @type {string} */ key) => {
            setMaking(false);
            setMade(key);
            void again();
          },
        })
      : me.value?.can_step_up && h("div", { ref: maker }, h(Button, { icon: "KeyRound", onClick: () => setMaking(true) }, t("keys.begin"))),
    made && h(ShownOnce, { title: t("keys.shown"), text: t("keys.shown.text"), label: t("keys.key"), secret: made, close: () => setMade("") }),
  );
}

/** @param {{its: Schemas["ServiceKey"], end: () => void}} props */
function KeyRow({ its, end }) {
  const over = its.expires_at !== null && its.expires_at * 1000 < Date.now();
  return h("li", { class: "spread row" },
    h("div", { class: "stack tight row-text" },
      h("p", { class: "row-name" }, h("bdi", null, its.name), over && h("span", { class: "tag" }, t("keys.over"))),
      h("p", { class: "role-allows" }, its.scope.length ? enumeration(allWords(its.scope)) : t("roles.nothing")),
      h("p", { class: "hint" }, dotted(
        its.last_used_at === null ? t("keys.unused") : [t("keys.used"), " ", h(Time, { seconds: its.last_used_at })],
        its.expires_at === null ? t("keys.endless") : t("keys.until", { day: day(its.expires_at) }),
        [t("field.created_at"), " ", h(Time, { seconds: its.created_at })],
      )),
    ),
    h(Button, { tone: "danger", onClick: end }, t("keys.end"), h("span", { class: "hidden", dir: "auto" }, `: ${its.name}`)),
  );
}

/** @param {{close: () => void, made: (key: string) => void}} props */
function NewKey({ close, made }) {
  const form = useMemo(() => new FormState(FIELDS, { expires_in: USUAL * DAY }), []);
  const [complaint, setComplaint] = useState("");
  const isGone = useRef(false);
  useEffect(() => () => void (isGone.current = true), []);
  const offer = useOffer();
  const failed = (/** @type {Failure} */ failure, /** @type {() => void} */ again) => {
    // A key that may have been made is asked for as it was; before that, what stands in the form then.
    if (failure.repeat || failure.kind === "wait") offer.make(failure, isGone.current ? null : failure.kind === "unknown" ? again : create);
    else if (failure.kind === "invalid") setComplaint(form.take(failure.problems).join("\n"));
    else if (failure.kind === "forbidden") form.problems.value = { scope: t("keys.escalation") };
    else setComplaint(describe(failure));
  };
  const { busy, run } = useRun({ failed });
  const create = async () => {
    if (!form.check()) return;
    setComplaint("");
    offer.withdraw();
    await run(() => call("post", "/api/auth/keys", { body: /** @type {any} */ (form.whole) }), ({ data }) => made(data.key));
  };
  return h("section", { class: "box card-form", "aria-label": t("keys.begin") },
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    h(RecordForm, { form, save: async () => void (busy || (await create())), isNew: true },
      h("div", { class: "cluster form-actions" },
        h(Button, { type: "submit", tone: "primary", busy: busy !== "" }, t("keys.make")),
        h(Button, { onClick: close }, t("cancel")),
      ),
    ),
  );
}

/** @param {WidgetProps} props */
const Lifetime = (props) =>
  h(Select, { ...props, read: (days) => (days ? Number(days) : null) },
    LIFETIMES.map((days) => h("option", { key: days, value: days ? String(days * DAY) : "" }, days ? t("keys.days", { n: days }) : t("keys.never"))),
  );

widgets.lifetime = Lifetime;

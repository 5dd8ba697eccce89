/** Keys by which scripts use the service in one's name; each is shown once. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { describe, say } from "../../notices.js";
import { wordsOf } from "../../form.js";
import { guard } from "../../router.js";
import { allWords } from "../../scopes.js";
import { me } from "../../session.js";
import { day, enumeration, t } from "../../texts.js";
import { Button, dotted, Pending, Time, useOffer, useRead, useRun } from "../primitives/basics.js";
import { About, TextField } from "../primitives/fields.js";
import { ask } from "../primitives/dialog.js";
import { Pick } from "../lists/toolbar.js";
import { ScopeMatrix } from "./scopes.js";
import { ShownOnce } from "./access.js";

/** @typedef {{name?: string, scope?: string, expires_in?: string}} Problems */
const FIELDS = ["name", "scope", "expires_in"];
const DAY = 86_400;
/** After how many days a key ends; none means never. */
const LIFETIMES = /** @type {const} */ (["7", "30", "90", "365", ""]);

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
      : me.value?.can_step_up && h("div", { ref: maker }, h(Button, { icon: "KeyRound", onClick: () => setMaking(true) }, t("keys.new"))),
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
  const id = useId();
  const [name, setName] = useState("");
  const [scope, setScope] = useState(/** @type {string[]} */ ([]));
  const [days, setDays] = useState("90");
  const [problems, setProblems] = useState(/** @type {Problems} */ ({}));
  const [complaint, setComplaint] = useState("");
  const form = useRef(/** @type {HTMLFormElement | null} */ (null));
  const isTyped = useRef(false);
  isTyped.current = name !== "" || scope.length > 0;
  useEffect(() => guard(() => isTyped.current), []);
  useEffect(() => /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector("input"))?.focus(), []);
  useEffect(() => /** @type {HTMLElement | null | undefined} */ (form.current?.querySelector('[aria-invalid="true"]'))?.focus(), [problems]);
  const offer = useOffer();
  const failed = (/** @type {Failure} */ failure, /** @type {() => void} */ again) => {
    // A key that may have been made is asked for as it was; before that, what stands in the form then.
    if (failure.repeat || failure.kind === "wait") offer.make(failure, form.current && (failure.kind === "unknown" ? again : () => form.current?.requestSubmit()));
    else if (failure.kind === "invalid") refuse(failure.problems);
    else if (failure.kind === "forbidden") setProblems({ scope: t("keys.escalation") });
    else setComplaint(describe(failure));
  };
  const { busy, run } = useRun({ failed });
  const create = () => {
    setProblems({});
    setComplaint("");
    offer.withdraw();
    return run(() => call("post", "/api/auth/keys", { body: { name, scope, expires_in: days ? Number(days) * DAY : null } }), ({ data }) => made(data.key));
  };
  /** @param {Problem[]} found */
  const refuse = (found) => {
    const its = found.filter(({ loc }) => FIELDS.includes(String(loc[1])));
    setProblems(Object.fromEntries(its.map((each) => [each.loc[1], wordsOf(each)])));
    setComplaint(found.filter((each) => !its.includes(each)).map(({ loc, msg }) => `${loc.join(" › ")}: ${msg}`).join("\n"));
  };
  /** @param {SubmitEvent} event */
  const send = (event) => {
    event.preventDefault();
    if (busy) return;
    if (!name) setProblems({ name: t("problem.missing") });
    else if ([...name].length > 64) setProblems({ name: t("problem.long", { n: 64, over: [...name].length - 64 }) });
    else void create();
  };
  return h("form", { ref: form, class: "form box card-form", noValidate: true, onSubmit: send, "aria-label": t("keys.new") },
    complaint && h("p", { class: "complaint", role: "alert", dir: "auto" }, complaint),
    h(TextField, {
      label: t("keys.name"),
      hint: t("keys.name.hint"),
      problem: problems.name,
      value: name,
      set: (text) => {
        setName(text);
        if (problems.name) setProblems({ ...problems, name: "" });
      },
      name: "name",
      required: true,
    }),
    h("div", { class: "field" },
      h("p", { class: "label" }, t("keys.scope")),
      h(ScopeMatrix, { scope, choose: setScope, label: t("keys.scope"), describedBy: `${id}-scope`, invalid: Boolean(problems.scope) }),
      h(About, { id: `${id}-scope`, problem: problems.scope }),
    ),
    h("div", { class: "field" },
      h(Pick, {
        label: t("keys.expires"),
        value: days,
        choices: LIFETIMES.map((each) => /** @type {const} */ ([each, each ? t("keys.days", { n: Number(each) }) : t("keys.never")])),
        pick: setDays,
        "aria-describedby": `${id}-expires`,
        "aria-invalid": Boolean(problems.expires_in),
      }),
      h(About, { id: `${id}-expires`, problem: problems.expires_in }),
    ),
    h("div", { class: "cluster form-actions" },
      h(Button, { type: "submit", tone: "primary", busy: busy !== "" }, t("keys.make")),
      h(Button, { onClick: close }, t("cancel")),
    ),
  );
}

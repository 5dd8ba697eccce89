/** What administrators decide for everybody: how the gallery looks, its targets and picture hosts; and what the program is. */
import { h, useEffect, useRef, useState } from "../vendor/preact.js";
import { ROOT } from "../client.js";
import { fieldsOf, FormState, theInterface } from "../form.js";
import { thumbnailOf } from "../look.js";
import { describe, sayFailure } from "../notices.js";
import { Button, dotted, Form, lazy, Link, Pending, rich, Skeleton, ViewHead } from "../parts/primitives/basics.js";
import { useLists, useRun } from "../parts/primitives/hooks.js";
import { RecordForm, Text, TextField, useText, widgets } from "../parts/primitives/fields.js";
import { ownPicture, Picture } from "../parts/primitives/picture.js";
import { Railed } from "../parts/primitives/railed.js";
import { may, pageConfig } from "../session.js";
import { amendShared, fixedHosts, hostIn, shared, sharedHosts, shareHosts, useShared } from "../shared_settings.js";
import { t, withTexts } from "../texts.js";
import { listOf } from "../records.js";
import { Dialog } from "../parts/primitives/dialog.js";
import { DialogEnd } from "../parts/primitives/form_dialog.js";

export default function Settings() {
  const { data, failure, again } = useShared();
  return h("div", { class: "view narrow" },
    h(ViewHead, { title: t("settings.title") }),
    h(Railed, null,
      h(Section, { title: t("settings.page"), text: t("settings.page.text") },
        data !== undefined ? h(PageForm, {}) : h(Pending, { failure, again }),
      ),
      h(Section, { title: t("field.gallery_targets"), text: t("settings.targets.text") }, data !== undefined && h(Targets, {})),
      h(Section, { title: t("field.picture_hosts"), text: t("settings.hosts.text") }, data !== undefined && h(Hosts, {})),
      may("users:read") && h(Section, { title: t("settings.pictures") }, h("p", null, h(Link, { to: "pictures" }, t("settings.pictures.all")))),
      h(Section, { title: t("move.title") }, h("p", null, h(Link, { to: "import" }, t("move.about")))),
      h(Section, { title: t("settings.operator") }, h("p", null, rich("settings.operator.text", { command: h("code", { class: "mono" }, "logoadmin config") }))),
      h(Section, { title: t("settings.about") }, h("p", { class: "hint" }, dotted(
        `logoadmin ${pageConfig.version}`,
        pageConfig.license,
        out("docs", t("about.docs")),
        out("openapi.json", "openapi.json"),
        may("changes:read") && h(Link, { to: "history?kind=settings" }, t("record.history.all")),
      ))),
    ),
  );
}

/** @param {{title: string, text?: string, children?: any}} props */
const Section = ({ title, text, children }) => h("section", { class: "section stack loose" }, h("h2", null, title), text && h("p", { class: "hint" }, text), children);

/** A link to something outside of the console, which opens beside it. @param {string} path @param {string} text */
const out = (path, text) => h("a", { href: new URL(path, ROOT).href, target: "_blank", rel: "noopener" }, text);

function Hosts() {
  const { busy, run } = useRun();
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  /** @param {string} host @param {boolean} isAllowed @param {() => void} [done] */
  const share = (host, isAllowed, done) =>
    void run(async () => {
      await shareHosts([host], isAllowed, isAllowed ? t("hosts.always.done", { n: 1, hosts: host }) : t("settings.hosts.removed", { host }));
      field.current?.focus();
      done?.();
    });
  const shared = sharedHosts.value.filter((host) => !fixedHosts.includes(host));
  return [
    fixedHosts.length + shared.length === 0
      ? h("p", { key: "none", class: "hint" }, t("settings.hosts.none"))
      : h(
          "ul",
          { key: "hosts", class: "box divided" },
          fixedHosts.map((host) => h(Host, { key: host, host }, h("p", { class: "hint" }, t("settings.hosts.fixed")))),
          shared.map((host) =>
            h(Host, { key: host, host }, h(Button, { scope: "*", busy: busy !== "", onClick: () => share(host, false) }, t("remove"), h("span", { class: "hidden" }, ` ${host}`))),
          ),
        ),
    h(Add, { key: "add", field, busy: busy !== "", add: (host, done) => share(host, true, done) }),
  ];
}

/** What everybody sees of the gallery: its title, mark, accent and link, and the rules for those who submit. */
function PageForm() {
  const [form, setForm] = useState(/** @type {FormState | undefined} */ (undefined));
  const failed = (/** @type {Failure} */ failure, /** @type {() => void} */ again) => (failure.kind === "invalid" ? form?.take(failure.problems) : sayFailure(failure, again));
  const { busy, run } = useRun({ failed });
  useEffect(() => {
    const begin = (/** @type {import("../form.js").Interface} */ described) => setForm(new FormState(fieldsOf(described, "amend_settings", "settings"), { ...shared.peek() }));
    theInterface().then(begin, sayFailure);
  }, []);
  // What others change is shown, and input stays.
  useEffect(() => form?.rebase({ ...shared.value }), [form, shared.value]);
  if (!form) return h(Skeleton, {});
  const save = () => run(() => amendShared(() => form.changed, t("settings.page.done")));
  return h(RecordForm, { form, save, disabled: !may("*") },
    h("div", { class: "cluster form-actions" }, h(Button, { type: "submit", tone: "primary", scope: "*", busy: busy !== "", idle: !form.isChanged.value }, t("save"))),
  );
}

/** @param {{host: string, children?: any}} props */
const Host = ({ host, children }) => h("li", { class: "spread row" }, h("bdi", { class: "stack tight row-text row-name" }, host), children);

/** @param {{field: {current: HTMLInputElement | null}, busy: boolean, add: (host: string, done: () => void) => void}} props */
function Add({ field, busy, add }) {
  const { text, refuse } = useText();
  const submit = () => {
    const host = hostIn(text.value);
    refuse(host ? "" : t("settings.hosts.wrong"));
    if (!host) field.current?.focus();
    else if (may("*") && !busy) add(host, () => text.set(""));
  };
  return h(Form, { class: "stack", send: submit },
    h(TextField, { label: t("settings.hosts.add"), hint: !text.problem && t("settings.hosts.form"), ...text, field, disabled: !may("*"), spellcheck: false, inputMode: "url" }),
    h("div", null, h(Button, { type: "submit", scope: "*", icon: "Plus", busy }, t("settings.hosts.allow"))),
  );
}

/** Of the samples. */
const THEMES = /** @type {const} */ (["light", "dark"]);

const PictureSource = lazy(withTexts(() => import("../parts/pictures/picture_source.js").then((module) => module.PictureSource)));

/** A picture that is uploaded, by its hash. @param {WidgetProps} props */
function MarkField({ form, field, id, disabled }) {
  const mark = String(form.values.value[field.name] ?? "");
  const url = mark && thumbnailOf(mark);
  return h("div", { class: "mark-field" },
    mark && h(Picture, { url }),
    h(PictureSource, { id, value: url, set: (/** @type {string} */ sent) => form.set(field.name, ownPicture(sent)?.picture ?? null), disabled }),
    mark && !disabled && h(Button, { onClick: () => form.set(field.name, null) }, t("settings.mark.remove")),
  );
}

/** A colour, and what becomes of it in both themes. @param {WidgetProps} props */
function AccentField(props) {
  const { form, field, disabled } = props;
  const accent = String(form.values.value[field.name] ?? "");
  const chosen = /^#[0-9a-f]{6}$/i.test(accent) ? accent : "";
  return h("div", { class: "cluster" },
    h("input", {
      type: "color",
      class: "colour",
      value: chosen || "#4453b7",
      disabled,
      "aria-label": t("settings.accent.choose"),
      onInput: (event) => form.set(field.name, event.currentTarget.value),
    }),
    h(Text, props),
    THEMES.map((theme) =>
      h("span", { key: theme, class: "box accented accent-sample", "data-theme": theme, style: { "--chosen": chosen } },
        h("span", { class: "button primary" }, t(`theme.${theme}`)),
        h("span", { class: "accent-text" }, t("settings.accent.link")),
      ),
    ),
  );
}

Object.assign(widgets, { mark: MarkField, colour: AccentField });

/** @typedef {{name: string, documents?: string[], own?: true, logo?: string}} Target */

const HOST = /^domain\("([a-z0-9.-]+)"\)$/;

/** @returns {Record<string, Target>} the described targets, by id */
const targets = () => /** @type {any} */ (shared.value?.gallery_targets ?? {});

/** @param {Target} target @returns {string} its pages, one per line: hosts by their names */
const pagesOf = ({ documents = [] }) => documents.map((each) => HOST.exec(each)?.[1] ?? each).join("\n");

/** @param {string} pages @returns {string[]} the conditions of `@-moz-document` */
const documentsIn = (pages) =>
  pages.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => (/[("']/.test(line) ? line : `domain("${line.toLowerCase()}")`));

function Targets() {
  const [edited, edit] = useState(/** @type {string | undefined} */ (undefined));
  const known = Object.entries(targets());
  const { run } = useRun();
  const remove = (/** @type {string} */ id) => run(() => amendShared(() => ({ gallery_targets: without(id) }), t("settings.targets.removed", { name: targets()[id]?.name ?? id })));
  return [
    known.length === 0
      ? h("p", { key: "none", class: "hint" }, t("settings.targets.none"))
      : h("ul", { key: "targets", class: "box divided" },
          known.map(([id, target]) =>
            h("li", { key: id, class: "spread row" },
              h("div", { class: "stack tight row-text" },
                h("bdi", { class: "row-name" }, target.name),
                h("span", { class: "hint", dir: "auto" }, `${id}: ${target.own ? t("settings.targets.own") : pagesOf(target).replaceAll("\n", ", ")}`),
              ),
              h("div", { class: "cluster" },
                h(Button, { scope: "*", onClick: () => edit(id) }, t("settings.targets.edit"), h("span", { class: "hidden" }, ` ${target.name}`)),
                h(Button, { scope: "*", onClick: () => void remove(id) }, t("remove"), h("span", { class: "hidden" }, ` ${target.name}`)),
              ),
            ),
          ),
        ),
    h("div", { key: "add" }, h(Button, { scope: "*", icon: "Plus", onClick: () => edit("") }, t("settings.targets.add"))),
    edited !== undefined && h(TargetDialog, { key: "dialog", id: edited, close: () => edit(undefined) }),
  ];
}

/** @param {string} id @returns {Record<string, Target>} */
const without = (id) => Object.fromEntries(Object.entries(targets()).filter(([other]) => other !== id));

/** @param {{id: string, close: () => void}} props A new target has an empty `id`. */
function TargetDialog({ id, close }) {
  const before = targets()[id];
  const [values, setValues] = useState({ id, name: before?.name ?? "", pages: before ? pagesOf(before) : "", own: before?.own ?? false, logo: before?.logo ?? "" });
  const [problems, setProblems] = useState(/** @type {Record<string, string>} */ ({}));
  const failed = (/** @type {Failure} */ failure) => setProblems(failure.problems.length ? problemsOf(failure) : { form: describe(failure) });
  const { busy, run } = useRun({ failed });
  const set = (/** @type {string} */ name, /** @type {string | boolean} */ value) => setValues((now) => ({ ...now, [name]: value }));
  const save = async () => {
    const pages = values.own ? { own: /** @type {const} */ (true) } : { documents: documentsIn(values.pages) };
    const target = { name: values.name, ...pages, ...(values.logo && !values.own ? { logo: values.logo } : {}) };
    await amendShared(() => ({ gallery_targets: { ...targets(), [values.id]: target } }), t("settings.targets.done", { name: values.name }));
    close();
  };
  const text = (/** @type {"id" | "name" | "pages" | "logo"} */ name, /** @type {number} */ rows = 0) =>
    h(TextField, { key: name, label: t(`settings.targets.${name}`), hint: t(`settings.targets.${name}.hint`), problem: problems[name], value: values[name], set: (written) => set(name, written), rows, spellcheck: false });
  return h(Dialog, { title: t(before ? "settings.targets.edit" : "settings.targets.add"), close },
    problems["form"] && h("p", { class: "complaint", role: "alert", dir: "auto" }, problems["form"]),
    h(Form, { send: () => may("*") && !busy && run(save) },
      !before && text("id"),
      text("name"),
      h("label", { class: "cluster" },
        h("input", { type: "checkbox", checked: values.own, onInput: (event) => set("own", event.currentTarget.checked) }),
        t("settings.targets.own"),
      ),
      !values.own && [text("pages", 4), text("logo")],
      before && h(Works, { id }),
      h(DialogEnd, { close, yes: t("save"), scope: "*", busy: busy !== "" }),
    ),
  );
}

/** @param {Failure} failure @returns {Record<string, string>} the problems, by the field of the dialog */
function problemsOf({ problems }) {
  /** @type {Record<string, string>} */
  const found = {};
  for (const { loc, msg } of problems) {
    const member = String(loc[3] ?? "form");
    found[member === "documents" ? "pages" : member === "[key]" ? "id" : member] ??= msg;
  }
  return found;
}

/** How many works a change concerns. @param {{id: string}} props */
function Works({ id }) {
  useLists("logo", "theme");
  const lists = [listOf("logo").value.records, listOf("theme").value.records];
  if (lists.includes(undefined)) return null;
  const works = lists.flatMap((records) => /** @type {{target: string, active: boolean}[]} */ (records ?? []));
  return h("p", { class: "hint", role: "status" }, t("settings.targets.works", { n: works.filter((each) => each.active && each.target === id).length }));
}

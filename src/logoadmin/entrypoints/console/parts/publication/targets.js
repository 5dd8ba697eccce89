/** The targets for which works are published as user styles (contract J8, Q3). */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { describe } from "../../notices.js";
import { listOf, readList } from "../../records.js";
import { may } from "../../session.js";
import { amendShared, shared } from "../../shared_settings.js";
import { t } from "../../texts.js";
import { Button, Form } from "../primitives/basics.js";
import { useRun } from "../primitives/hooks.js";
import { TextField } from "../primitives/fields.js";
import { Dialog } from "../primitives/dialog.js";
import { DialogEnd } from "../primitives/form_dialog.js";

/** @typedef {{name: string, documents?: string[], own?: true, logo?: string}} Target */

const HOST = /^domain\("([a-z0-9.-]+)"\)$/;

/** @returns {Record<string, Target>} the described targets, by id */
export const targets = () => /** @type {any} */ (shared.value?.gallery_targets ?? {});

/** @param {Target} target @returns {string} its pages, one a line: hosts by their names */
const pagesOf = ({ documents = [] }) => documents.map((each) => HOST.exec(each)?.[1] ?? each).join("\n");

/** @param {string} pages @returns {string[]} the conditions of `@-moz-document` */
const documentsIn = (pages) =>
  pages.split("\n").map((line) => line.trim()).filter(Boolean).map((line) => (/[("']/.test(line) ? line : `domain("${line.toLowerCase()}")`));

export function Targets() {
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

/** @param {{id: string, close: () => void}} props An empty `id` is that of a new target. */
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

/** @param {Failure} failure @returns {Record<string, string>} what is wrong, by the field of the dialog */
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
  useEffect(() => {
    for (const kind of /** @type {const} */ (["logo", "theme"])) void readList(kind);
  }, []);
  const lists = [listOf("logo").value.records, listOf("theme").value.records];
  if (lists.includes(undefined)) return null;
  const works = lists.flatMap((records) => /** @type {{target: string, active: boolean}[]} */ (records ?? []));
  return h("p", { class: "hint", role: "status" }, t("settings.targets.works", { n: works.filter((each) => each.active && each.target === id).length }));
}

/** What a role or a key may do: rows are kinds of records, columns are to see and to change, each said in words. */
import { h, useId, useState } from "../../vendor/preact.js";
import { ALL, RIGHTS, beyondMe, isForeign } from "../../scopes.js";
import { t } from "../../texts.js";
import { About } from "../primitives/fields.js";

/** @typedef {import("../../texts.js").TextKey} TextKey */
/** A scope-token of RFC 6749 §3.3, as the service takes it (contract A11). */
const TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]{1,64}$/;

/**
 * @param {object} props
 * @param {readonly string[]} props.scope
 * @param {(scope: string[]) => void} props.choose
 * @param {string} props.label
 * @param {boolean} [props.disabled]
 * @param {string} [props.describedBy]
 * @param {boolean} [props.invalid]
 */
export function ScopeMatrix({ scope, choose, label, disabled = false, describedBy, invalid = false }) {
  const id = useId();
  const all = scope.includes(ALL);
  const outOfReach = beyondMe([ALL, ...RIGHTS.flatMap(({ see, change }) => [see, change]).filter(Boolean)]);
  /** @param {string} which @param {boolean} on */
  const set = (which, on) => choose(on ? [...scope, which] : scope.filter((each) => each !== which));
  /** @param {string} which @param {string} text */
  const choice = (which, text) => {
    const beyond = outOfReach.includes(which) && !scope.includes(which);
    return h(Choice, {
      text,
      checked: all || scope.includes(which),
      why: beyond ? t("scope.beyond") : all && which !== ALL ? t("scope.included") : "",
      disabled,
      set: (/** @type {boolean} */ on) => set(which, on),
    });
  };
  return h(
    "div",
    { class: "box scopes", role: "group", "aria-label": label, "aria-describedby": describedBy, tabIndex: invalid ? -1 : undefined, "aria-invalid": invalid || undefined },
    h("div", { class: "scope-all" }, choice(ALL, t("scope.*"))),
    h(
      "table",
      { class: "scope-table" },
      h("thead", null, h("tr", null, ["kind", "see", "change"].map((each) => h("th", { key: each, scope: "col" }, t(/** @type {TextKey} */ (`scope.${each}`)))))),
      h(
        "tbody",
        null,
        RIGHTS.map(({ kind, see, change }) =>
          h(
            "tr",
            { key: kind },
            h("th", { scope: "row" }, t(/** @type {TextKey} */ (`scope.${kind}`))),
            h("td", null, see ? choice(see, t(/** @type {TextKey} */ (`scope.${see}`))) : h("span", { class: "scope-open" }, t(kind === "proposals" ? "scope.proposals.see" : "scope.open"))),
            h("td", null, change ? choice(change, t(/** @type {TextKey} */ (`scope.${change}`))) : h("span", { class: "scope-open" }, t("scope.changes.change"))),
          ),
        ),
      ),
    ),
    h(Foreign, { id, scope, choose, disabled }),
  );
}

/** @param {{text: string, checked: boolean, why: string, disabled: boolean, set: (on: boolean) => void}} props */
function Choice({ text, checked, why, disabled, set }) {
  const id = useId();
  const fixed = disabled || why !== "";
  return h(
    "div",
    { class: fixed ? "check fixed" : "check" },
    h("input", {
      id,
      type: "checkbox",
      checked,
      // Not `disabled`, which the keyboard could not reach: then nobody would hear the reason.
      "aria-disabled": fixed,
      "aria-describedby": why ? `${id}-why` : undefined,
      onClick: (/** @type {MouseEvent} */ event) => fixed && event.preventDefault(),
      onInput: (/** @type {InputEvent} */ event) => !fixed && set(/** @type {HTMLInputElement} */ (event.currentTarget).checked),
    }),
    h("label", { for: id }, text),
    why && h("span", { id: `${id}-why`, class: "check-why" }, why),
  );
}

/**
 * Rights that other services read from here, as free text.
 * @param {{id: string, scope: readonly string[], choose: (scope: string[]) => void, disabled: boolean}} props
 */
function Foreign({ id, scope, choose, disabled }) {
  const foreign = scope.filter(isForeign);
  const [typed, setTyped] = useState(foreign.join(" "));
  const parts = typed.split(/\s+/).filter(Boolean);
  const wrong = parts.find((each) => !TOKEN.test(each));
  const own = parts.find((each) => !isForeign(each));
  const beyond = beyondMe(parts.filter((each) => !foreign.includes(each)));
  // The input stays as typed while it has the same scopes.
  const value = wrong || own || parts.join(" ") === foreign.join(" ") ? typed : foreign.join(" ");
  const problem = wrong
    ? t("scope.foreign.wrong", { scope: wrong })
    : own
      ? t("scope.foreign.own", { scope: own })
      : beyond[0]
        ? t("scope.foreign.beyond", { scope: beyond[0] })
        : "";
  return h(
    "div",
    { class: "field" },
    h("label", { class: "label", for: `${id}-foreign` }, t("scope.foreign")),
    h("input", {
      id: `${id}-foreign`,
      class: "input mono",
      value,
      readOnly: disabled,
      spellcheck: false,
      autocomplete: "off",
      autocapitalize: "none",
      dir: "ltr",
      "aria-invalid": Boolean(problem),
      "aria-describedby": `${id}-foreign-about`,
      onInput: (/** @type {InputEvent} */ event) => {
        const text = /** @type {HTMLInputElement} */ (event.currentTarget).value;
        setTyped(text);
        const given = text.split(/\s+/).filter((each) => TOKEN.test(each) && isForeign(each));
        choose([...scope.filter((each) => !isForeign(each)), ...new Set(given)]);
      },
    }),
    h(About, { id: `${id}-foreign-about`, problem, hint: t("scope.foreign.hint") }),
  );
}

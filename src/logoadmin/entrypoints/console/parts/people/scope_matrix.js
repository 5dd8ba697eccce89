/** What a role or a key may do here; scopes of other services stay as they are: rows are kinds of records, columns are to see and to change, each said in words. */
import { h, useId } from "../../vendor/preact.js";
import { ALL, RIGHTS, beyondMe } from "../../scopes.js";
import { t } from "../../texts.js";

/** @typedef {import("../../texts.js").TextKey} TextKey */

/** @param {{scope: readonly string[], choose: (scope: string[]) => void, label: string, disabled?: boolean, describedBy?: string, invalid?: boolean}} props */
export function ScopeMatrix({ scope, choose, label, disabled = false, describedBy, invalid = false }) {
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
    h("table", { class: "scope-table" },
      h("thead", null, h("tr", null, ["kind", "see", "change"].map((each) => h("th", { key: each, scope: "col" }, t(/** @type {TextKey} */ (`scope.${each}`)))))),
      h("tbody", null,
        RIGHTS.map(({ kind, see, change }) =>
          h("tr", { key: kind },
            h("th", { scope: "row" }, t(/** @type {TextKey} */ (`scope.${kind}`))),
            h("td", null, see ? choice(see, t(/** @type {TextKey} */ (`scope.${see}`))) : h("span", { class: "scope-open" }, t(kind === "proposals" ? "scope.proposals.see" : "scope.open"))),
            h("td", null, change ? choice(change, t(/** @type {TextKey} */ (`scope.${change}`))) : h("span", { class: "scope-open" }, t("scope.changes.change"))),
          ),
        ),
      ),
    ),
  );
}

/** @param {{text: string, checked: boolean, why: string, disabled: boolean, set: (on: boolean) => void}} props */
function Choice({ text, checked, why, disabled, set }) {
  const id = useId();
  const fixed = disabled || why !== "";
  return h("div", { class: fixed ? "check fixed" : "check" },
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

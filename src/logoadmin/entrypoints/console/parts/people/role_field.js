/** The role of a user, picked by name; roles that the signed-in user cannot grant are disabled, with the reason. */
import { h } from "../../vendor/preact.js";
import { allWords, beyondMe } from "../../scopes.js";
import { nameOf } from "../../presentation.js";
import { listOf } from "../../records.js";
import { enumeration, t } from "../../texts.js";
import { widgets } from "../primitives/fields.js";

/** @param {import("../primitives/fields.js").WidgetProps} props */
function RoleField({ form, field, id, describedBy, disabled }) {
  const { records, failure } = listOf("role").value;
  const value = Number(form.values.value[field.name]);
  const roles = records ?? [];
  const chosen = roles.find((role) => role.role_id === value);
  const closed = roles.filter((role) => beyondMe(role.scope).length > 0);
  return h("div", { class: "role-field" },
    h(
      "select",
      {
        id,
        class: "input",
        name: field.name,
        value: String(value),
        disabled: disabled || !records,
        "aria-describedby": `${id}-allows ${describedBy}`,
        "aria-invalid": Boolean(form.problems.value[field.name]),
        onChange: (/** @type {Event} */ event) => form.set(field.name, Number(/** @type {HTMLSelectElement} */ (event.currentTarget).value)),
      },
      !chosen && h("option", { value: String(value) }, t("role.number", { number: String(value) })),
      roles.map((role) =>
        h("option", { key: role.role_id, value: String(role.role_id), disabled: closed.includes(role) && role !== chosen }, nameOf("role", role)),
      ),
    ),
    h("p", { id: `${id}-allows`, class: "hint" },
      chosen && t(chosen.scope.length ? "role.allows" : "role.allows.nothing", { what: enumeration(allWords(chosen.scope)) }),
      !records && failure && t("role.unknown"),
      closed.length > 0 && !disabled && h("span", { class: "line" }, t("role.closed", { names: enumeration(closed.map(({ name }) => name)) })),
    ),
  );
}

widgets.role = RoleField;

/** The second factors of a user, as rows. */
import { h } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Time } from "../primitives/basics.js";

/** @typedef {import("logoadmin/api").components["schemas"]["ListedFactor"]} Factor */

/** @param {{factors: Factor[], label: string, action?: (factor: Factor) => any, children?: any}} props `action` is at the end of a row. */
export function FactorRows({ factors, label, action, children }) {
  return h("ul", { class: "box divided rows", "aria-label": label }, factors.map((each) => h(Row, { key: each.factor_id, its: each, action })), children);
}

/** @param {{its: Factor, action: ((factor: Factor) => any) | undefined}} props */
function Row({ its, action }) {
  return h("li", { class: "spread row" },
    h("div", { class: "stack tight row-text" },
      h("p", { class: "row-name" }, h("bdi", null, its.name)),
      h("p", { class: "hint" },
        t(`factor.${its.kind}`),
        " · ",
        its.last_used_at === null ? t("factor.unused") : [t("factor.used"), " ", h(Time, { seconds: its.last_used_at })],
        " · ",
        t("factor.created"),
        " ",
        h(Time, { seconds: its.created_at }),
      ),
    ),
    action?.(its),
  );
}

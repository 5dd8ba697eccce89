/** A band above a form: a state of the record, what to do about it, and the buttons that do it. */
import { h } from "../../vendor/preact.js";
import { Icon } from "./icon.js";

/** @param {{title: any, icon?: import("./icon.js").IconName, tone?: "warning" | "danger", role?: "status" | "alert", actions?: any, children?: any}} props */
export const Band = ({ title, icon = "TriangleAlert", tone = "warning", role = "status", actions, children }) =>
  h("section", { class: `band band-${tone}`, role },
    h(Icon, { name: icon }),
    h("div", { class: "stack tight band-words" }, h("p", { class: "band-title", dir: "auto" }, title), children),
    actions && h("div", { class: "cluster band-actions" }, actions),
  );

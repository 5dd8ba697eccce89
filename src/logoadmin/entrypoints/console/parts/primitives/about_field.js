/** The words below a field. */
import { h } from "../../vendor/preact.js";

/** What is wrong with a field, and what it is for, which helps to mend it. @param {{id: string, hint?: any, problem?: string | undefined}} props */
export const About = ({ id, hint, problem }) => h("div", { id, class: "field-about" }, problem && h("p", { class: "problem" }, problem), hint && h("p", { class: "hint" }, hint));

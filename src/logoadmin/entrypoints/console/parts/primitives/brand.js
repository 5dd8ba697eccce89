/** Whose gallery this is: its mark and its title. */
import { h } from "../../vendor/preact.js";
import { look } from "../../look.js";

/** @param {{large?: boolean, key?: any}} props */
export function Brand({ large = false }) {
  const { title, mark } = look.value;
  return h("span", { class: large ? "brand large" : "brand" },
    mark ? h("img", { key: mark, class: "brand-mark", src: mark, alt: "" }) : h("span", { class: "brand-mark brand-dot" }),
    h("bdi", { class: "brand-title" }, title),
  );
}

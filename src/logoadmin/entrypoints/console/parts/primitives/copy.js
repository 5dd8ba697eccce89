/** A button that copies a text. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Button } from "./basics.js";

/** @param {{text: string, tone?: string, copied?: () => void}} props */
export function Copy({ text, tone = "plain", copied }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    await toClipboard(text);
    setDone(text);
    copied?.();
  };
  return h(Button, { tone, icon: done === text ? "Check" : "Copy", onClick: () => void copy() }, h("span", { role: "status" }, t(done === text ? "copied" : "copy")));
}

/** @param {string} text */
async function toClipboard(text) {
  // There only where the page came by TLS or from this machine.
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement("textarea");
  field.value = text;
  (document.querySelector("dialog[open]") ?? document.body).append(field);
  field.select();
  document.execCommand("copy");
  field.remove();
  return undefined;
}

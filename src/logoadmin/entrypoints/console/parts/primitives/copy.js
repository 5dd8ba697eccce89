/** A button that copies a text. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Button } from "./basics.js";
import { toClipboard } from "./clipboard.js";

/** @param {{text: string, tone?: string, copied?: () => void}} props */
export function Copy({ text, tone = "plain", copied }) {
  const [done, setDone] = useState("");
  const copy = async () => {
    await toClipboard(text);
    setDone(text);
    copied?.();
  };
  return h(Button, { tone, icon: done === text ? "Check" : "Copy", onClick: () => void copy() }, h("span", { "aria-live": "polite" }, t(done === text ? "copied" : "copy")));
}

/** Copies the id of a request that failed, which the administrator finds in the log. */
import { h, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Icon } from "./icon.js";

/** @param {{id: string}} props */
export function CopyReference({ id }) {
  const [copied, setCopied] = useState("");
  const isCopied = copied === id;
  const copy = async () => {
    await (await import("./clipboard.js")).toClipboard(id);
    setCopied(id);
  };
  return id && h("button", { type: "button", class: "button quiet", onClick: () => void copy() }, h(Icon, { name: isCopied ? "Check" : "Copy" }), h("span", { "aria-live": "polite" }, t(isCopied ? "copied" : "reference.copy")));
}

/** The keys of the console. */
import { h } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { SEARCH_KEYS } from "./sidebar.js";
import { Dialog } from "../primitives/dialog.js";

/** @type {[string[], import("../../texts.js").TextKey][]} */
const KEYS = [
  [SEARCH_KEYS, "key.palette"],
  [["/"], "key.search"],
  [["←", "→", "↑", "↓"], "key.arrows"],
  [["Enter"], "key.open"],
  [["Space"], "key.glance"],
  [["X"], "key.select"],
  [["Ctrl", "A"], "key.selectAll"],
  [["Ctrl", "S"], "key.save"],
  [["J"], "key.next"],
  [["K"], "key.previous"],
  [["A"], "key.apply"],
  [["R"], "key.decline"],
  [["E"], "key.mend"],
  [["D"], "key.duplicate"],
  [["N"], "key.new"],
  [["Ctrl", "Z"], "key.undo"],
  [["Esc"], "key.close"],
  [["?"], "key.help"],
];

/** @param {{close: () => void}} props */
export function Help({ close }) {
  return h(Dialog, { title: t("help"), close },
    h("dl", { class: "stack keys" },
      KEYS.map(([keys, text]) =>
        h("div", { key: text }, h("dt", null, keys.map((key) => h("kbd", { key }, key))), h("dd", null, t(text))),
      ),
    ),
    h("div", { class: "cluster dialog-actions" }, h("button", { type: "button", class: "button primary", onClick: close }, t("close"))),
  );
}

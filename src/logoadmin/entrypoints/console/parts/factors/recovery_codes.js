/** Recovery codes, shown once: to be copied, saved as a file or printed before one goes on. */
import { h, useEffect, useId, useRef, useState } from "../../vendor/preact.js";
import { guard, HOME } from "../../router.js";
import { me } from "../../session.js";
import { exactTime, t, withoutMarks } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { Copy } from "../primitives/copy.js";
import { saveFile } from "../primitives/save_file.js";

/** @param {{codes: readonly string[], done: () => void, heading?: "h2" | "h3"}} props */
export function RecoveryCodes({ codes, done, heading: level = "h3" }) {
  const id = useId();
  const [kept, setKept] = useState(false);
  const heading = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => heading.current?.focus(), []);
  useEffect(() => guard(() => true), []);
  const whose = t("recovery.of", { name: me.value?.username ?? "", place: HOME.host, time: exactTime(Date.now() / 1000) });
  const text = `${withoutMarks(whose)}\n\n${codes.join("\n")}\n`;
  const save = () => saveFile(new Blob([text], { type: "text/plain" }), "logoadmin-recovery-codes.txt");
  return h("section", { class: "stack loose recovery-codes", "aria-labelledby": id },
    h(level, { id, ref: heading, tabIndex: -1 }, t("recovery.keep")),
    h("p", null, t("recovery.text")),
    h("div", { class: "box printed" }, h("p", { class: "print-only" }, whose), h("ul", { class: "mono" }, codes.map((each) => h("li", { key: each }, each)))),
    h("div", { class: "cluster" }, h(Copy, { text: codes.join("\n") }), h(Button, { icon: "Download", onClick: save }, t("recovery.download")), h(Button, { icon: "FileText", onClick: () => print() }, t("recovery.print"))),
    h("label", { class: "check" },
      h("input", { type: "checkbox", checked: kept, onInput: (/** @type {InputEvent} */ event) => setKept(/** @type {HTMLInputElement} */ (event.currentTarget).checked) }),
      h("span", null, t("recovery.kept")),
    ),
    h("div", { class: "cluster form-actions" }, h(Button, { tone: "primary", reason: kept ? undefined : t("recovery.first"), onClick: done }, t("done"))),
  );
}

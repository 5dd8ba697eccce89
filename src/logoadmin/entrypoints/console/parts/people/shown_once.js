/** A secret that is shown once, such as a new key or the password of a new user. */
import { h, useEffect, useId } from "../../vendor/preact.js";
import { guard } from "../../router.js";
import { t } from "../../texts.js";
import { Copy } from "../primitives/copy.js";
import { Dialog } from "../primitives/dialog.js";

/** @param {{title: string, text: string, label: string, secret: string, close: () => void}} props Leaving the page calls `close` as well. */
export function ShownOnce({ title, text, label, secret, close }) {
  const id = useId();
  useEffect(() => {
    // It is never shown again, so Back asks first.
    const release = guard(() => true);
    return () => {
      release();
      close();
    };
  }, []);
  return h(Dialog, { title },
    h("p", { dir: "auto" }, text),
    h("div", { class: "field" },
      h("label", { class: "label", for: id }, label),
      h("input", { id, class: "input mono", readOnly: true, autocomplete: "off", value: secret, onFocus: (/** @type {FocusEvent} */ event) => /** @type {HTMLInputElement} */ (event.currentTarget).select() }),
    ),
    h("div", { class: "cluster dialog-actions" }, h(Copy, { text: secret }), h("button", { type: "button", class: "button primary", onClick: close }, t("done"))),
  );
}

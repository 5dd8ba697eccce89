/** The CSS of a logo, which the form writes from its picture; the few who want to write their own edit it. */
import { h, useEffect, useId, useLayoutEffect, useRef, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { cssWidget } from "../css/css_editor.js";
import { Button, pictureUrl } from "../primitives/basics.js";
import { ask } from "../primitives/dialog.js";

/** @typedef {{url: string, position: string, width: string, height: string}} Written */

const Editor = cssWidget("declarations");
const WRITTEN = /^background: url\("(?<url>[^"]*)"\) (?<position>left|center|right) \/ contain no-repeat; width: (?<width>\d{1,4})px; height: (?<height>\d{1,4})px$/;
const POSITIONS = /** @type {const} */ (["left", "center", "right"]);
/** What the picture gets until its own size is known: about the space that sites have for a logo. */
const USUAL = { position: "center", width: "120", height: "36" };

/** @param {string} url @returns {Promise<{width: string, height: string}>} the size of the picture, as it fits into that space */
async function fitted(url) {
  const image = Object.assign(new Image(), { referrerPolicy: "no-referrer", src: url });
  await image.decode();
  const { naturalWidth: width, naturalHeight: height } = image;
  const scale = Math.min(1, Number(USUAL.width) / width, Number(USUAL.height) / height);
  const side = (/** @type {number} */ pixels) => String(Math.max(1, Math.round(pixels * scale)));
  return { width: side(width), height: side(height) };
}

/** @param {Written} how @returns {string} */
const cssOf = ({ url, position, width, height }) => `background: url("${new URL(url).href.replaceAll("\\", "%5C")}") ${position} / contain no-repeat; width: ${width}px; height: ${height}px`;

/** @param {string} css @returns {Written | undefined} how it was written, if nobody edited it */
const writtenAs = (css) => /** @type {any} */ (WRITTEN.exec(css)?.groups);

/** @param {string} css @param {string} before The picture so far. @param {string} url @returns {string} the CSS for another picture; own edits stay */
function withPicture(css, before, url) {
  const written = css.trim() ? writtenAs(css) : USUAL;
  if (written) return cssOf({ ...written, url });
  return before ? css.replaceAll(before, url) : css;
}

/** @param {WidgetProps} props */
export function LogoCss(props) {
  const { form, field, id, describedBy, disabled } = props;
  const { preview_url: picture = "", custom_css: value = "" } = /** @type {Record<string, string>} */ (form.values.value);
  const url = pictureUrl(picture) ? picture : "";
  const written = value.trim() ? writtenAs(value) : { ...USUAL, url: "" };
  const [isEditing, setEditing] = useState(!written);
  const before = useRef(url);
  // The size that nobody chose: another picture brings its own.
  const given = useRef(/** @type {{width: string, height: string}} */ (USUAL));
  const set = (/** @type {string} */ css) => form.set(field.name, css);
  const fit = async () => {
    const size = await fitted(url).catch(() => undefined);
    const css = String(form.values.peek()[field.name]);
    const now = writtenAs(css);
    const isGiven = [USUAL, given.current].some(({ width, height }) => now && css === cssOf({ ...now, url, width, height }));
    if (!size || !now || !isGiven) return;
    given.current = size;
    set(cssOf({ ...now, ...size, url }));
  };
  useLayoutEffect(() => {
    // A record that was read brings its own CSS.
    const isChosen = form.values.peek()["preview_url"] !== form.base.peek()["preview_url"];
    if (url && url !== before.current && isChosen && !disabled) {
      set(withPicture(value, before.current, url));
      void fit();
    }
    if (url) before.current = url;
  }, [url]);
  const write = async () => {
    const isOwn = !written && !(await ask({ title: t("logoCss.write.title"), text: t("logoCss.write.text"), yes: t("logoCss.write"), no: t("cancel") }));
    if (isOwn) return;
    set(cssOf({ ...USUAL, ...written, url }));
    void fit();
    setEditing(false);
  };
  if (isEditing || !written) {
    return [
      h(Editor, { key: "editor", ...props }),
      url && !disabled && h("div", { key: "write", class: "cluster" }, h(Button, { icon: "Image", onClick: () => void write() }, t("logoCss.write"))),
    ];
  }
  const change = (/** @type {Partial<Written>} */ some) => set(cssOf({ ...written, url: written.url || url, ...some }));
  const isIdle = disabled || !(written.url || url);
  const common = { disabled: isIdle, "aria-describedby": describedBy, "aria-invalid": Boolean(form.problems.value[field.name]) };
  return h("div", { class: "stack" },
    h("div", { class: "cluster logo-css" },
      h(Side, { id, label: t("logoCss.width"), value: written.width, change: (width) => change({ width }), common }),
      h(Side, { label: t("logoCss.height"), value: written.height, change: (height) => change({ height }), common }),
      h("label", { class: "logo-css-part" },
        h("span", { class: "hint" }, t("logoCss.position")),
        h(
          "select",
          { class: "input", value: written.position, ...common, onChange: (/** @type {any} */ event) => change({ position: event.currentTarget.value }) },
          POSITIONS.map((each) => h("option", { key: each, value: each }, t(`logoCss.${each}`))),
        ),
      ),
    ),
    h("p", { class: "hint" }, t(isIdle && !disabled ? "logoCss.missing" : "logoCss.about")),
    h("div", { class: "cluster" },
      !value.trim() && url && !disabled && h(Button, { icon: "Image", onClick: () => void write() }, t("logoCss.write")),
      h(Button, { icon: "Pencil", onClick: () => setEditing(true) }, t("logoCss.edit")),
    ),
  );
}

/** @param {{id?: string, label: string, value: string, change: (value: string) => void, common: object}} props In pixels; what is no number stays in the field alone. */
function Side({ id: given, label, value, change, common }) {
  const own = useId();
  const [typed, setTyped] = useState(value);
  useEffect(() => setTyped(value), [value]);
  const id = given ?? own;
  return h("label", { class: "logo-css-part", for: id },
    h("span", { class: "hint" }, label),
    h("input", {
      id,
      class: "input",
      inputMode: "numeric",
      autocomplete: "off",
      maxLength: 4,
      value: typed,
      ...common,
      onInput: (/** @type {any} */ event) => {
        const next = event.currentTarget.value;
        setTyped(next);
        if (/^[1-9]\d{0,3}$/.test(next)) change(next);
      },
      onBlur: () => setTyped(value),
    }),
  );
}

/** The preview of a work on a sample page, in a frame without an origin that only loads the gallery's own pictures. */
import { language } from "./page-choices.js";
import sample from "./page-sample.js";

/** The start of rules for certain pages, which also apply to the sample. */
const DOCUMENT = /@(?:-moz-)?document\b(?:"(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*'|[^"'{};@\\])*\{/gi;

/** The address of a picture of the gallery, which may have a copy next to its pages. */
const OWN_PICTURE = /https?:\/\/(?:(?!https?:\/\/)[^\s"'()\\])+\/pictures\/(?=[0-9a-f]{64}(?:-320)?\.webp)/g;

/** @param {HTMLElement} place with the frame and its buttons @param {string} css */
export function show(place, css) {
  const frame = /** @type {HTMLIFrameElement} */ (place.querySelector("iframe"));
  const [dark, moving] = /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("button"));
  const [heavy, missing] = /** @type {NodeListOf<HTMLElement>} */ (place.querySelectorAll("[role=status]"));
  if (frame.hasAttribute("srcdoc") || !dark || !moving || !heavy || !missing) return;
  const { kind, target = "" } = place.dataset;
  // Escapes characters that would end the URL or the attribute.
  const [pictures = "", script = ""] = ["pictures/", "page-frame.js"].map((name) => new URL(name, import.meta.url).href.replace(/[&;,"]/g, encodeURIComponent));
  const own = css.replace(OWN_PICTURE, pictures);
  const shown = { kind, target, css: kind === "theme" ? own.replace(DOCUMENT, "@media all{") : own, imports: [], language };
  let isThere = false;
  // Animations are paused until somebody plays them. The frame has no origin to restrict the message to.
  const send = () => frame.contentWindow?.postMessage({ ...shown, isPlaying: moving.ariaPressed === "true" }, "*");
  addEventListener("message", ({ source, data }) => {
    if (source !== frame.contentWindow) return;
    if (data === "ready") send();
    else heavy.hidden = data !== "heavy";
    isThere = missing.hidden = true;
  });
  // Service workers do not serve frames without an origin, so it does not load without a network.
  frame.addEventListener("load", () => setTimeout(() => (missing.hidden = isThere), 1000), { once: true });
  const scheme = document.documentElement.dataset.theme || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
  if (kind === "theme") offer(dark, scheme === "dark", (isOn) => (frame.style.colorScheme = isOn ? "dark" : "light"));
  if (/animation|transition/i.test(css)) offer(moving, false, send);
  const policy = `default-src 'none'; script-src ${script}; img-src ${pictures} data:; font-src data:`;
  // Links would open windows, which the sandbox prevents.
  // eslint-disable-next-line no-restricted-properties -- the sample is ours, and the addresses are escaped
  frame.srcdoc = sample.replace("<head>", `<head><meta http-equiv="Content-Security-Policy" content="${policy}"><base target="_blank">`).replace("preview.js", script);
}

/** @param {HTMLElement} button @param {boolean} isOn its initial state @param {(isOn: boolean) => void} act */
function offer(button, isOn, act) {
  const turn = (/** @type {boolean} */ isPressed) => {
    button.ariaPressed = `${isPressed}`;
    act(isPressed);
  };
  button.hidden = false;
  button.addEventListener("click", () => turn(button.ariaPressed !== "true"));
  turn(isOn);
}

/** How the console looks: the title, mark and accent of the gallery (contract J8), and light or dark as the person chose. */
import { computed, effect, signal } from "./vendor/preact.js";
import { HOME } from "./router.js";
import { pageConfig } from "./session.js";

/** @typedef {Schemas["SharedSettings"]} Shared */

/** What administrators decided for everybody, as it was last read. */
export const shared = signal(/** @type {Shared | undefined} */ (undefined));

/** The page for visitors, where the service has one. */
export const PAGE = pageConfig.page ? new URL("../gallery/", HOME) : undefined;

/** @param {string} picture its hash @returns {string} the address of the smaller one */
export const thumbnailOf = (picture) => new URL(`../pictures/${picture}-320.webp`, HOME).href;

/** As it was last read, also by somebody who signed out since. @type {Pick<Shared, "gallery_title" | "gallery_mark" | "gallery_accent">} */
let known = pageConfig.look;

export const look = computed(() => {
  const { gallery_title, gallery_mark, gallery_accent } = (known = shared.value ?? known);
  return { title: gallery_title || pageConfig.look.title || location.host, mark: gallery_mark && thumbnailOf(gallery_mark), accent: gallery_accent };
});

/** Name a view in the tab. @param {string} title */
export const nameTab = (title) => void (document.title = `${title} · ${look.value.title}`);

/** Paint with the accent, and show the mark as the icon. */
export function startLook() {
  const icon = /** @type {HTMLLinkElement} */ (document.querySelector("link[rel=icon]"));
  // Browsers read it when they like, and what is relative moves on with the address.
  const usual = icon.href;
  effect(() => {
    const { mark, accent } = look.value;
    document.documentElement.style.setProperty("--chosen", accent ?? "");
    icon.href = usual;
    // The picture may be gone.
    if (mark) Object.assign(new Image(), { src: mark, onload: () => look.value.mark === mark && (icon.href = mark) });
  });
}

const CHOSEN = "logoadmin.theme";
/** @typedef {"system" | "light" | "dark"} Theme */
export const THEMES = /** @type {const} */ (["system", "light", "dark"]);
export const theme = signal(/** @type {Theme} */ (THEMES.find((each) => each === localStorage.getItem(CHOSEN)) ?? "system"));
effect(() => {
  if (theme.value === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme.value;
});

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
  localStorage.setItem(CHOSEN, chosen);
  theme.value = chosen;
}

/** Light or dark: as the system has it, or as the person chose. */
import { signal } from "../../vendor/preact.js";

const CHOSEN = "logoadmin.theme";
/** @typedef {"system" | "light" | "dark"} Theme */
export const THEMES = /** @type {const} */ (["system", "light", "dark"]);
export const theme = signal(/** @type {Theme} */ ("system"));

/** @param {Theme} chosen */
export function chooseTheme(chosen) {
  localStorage.setItem(CHOSEN, chosen);
  apply(chosen);
}

/** @param {Theme} chosen */
function apply(chosen) {
  theme.value = chosen;
  if (chosen === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = chosen;
}

export function startTheme() {
  const chosen = THEMES.find((each) => each === localStorage.getItem(CHOSEN));
  apply(chosen ?? "system");
}

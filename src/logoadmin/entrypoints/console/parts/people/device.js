/** What a program calls itself, in words. */
import { t } from "../../texts.js";

/** The first that fits: many call themselves by the names of others as well. @type {[RegExp, string][]} */
const BROWSERS = [
  [/\bEdgA?(iOS)?\//, "Edge"],
  [/\bOPR\//, "Opera"],
  [/\bYaBrowser\//, "Yandex Browser"],
  [/\bVivaldi\//, "Vivaldi"],
  [/\bSamsungBrowser\//, "Samsung Internet"],
  [/\b(Firefox|FxiOS)\//, "Firefox"],
  [/\b(HeadlessChrome|Chrome|CriOS|Chromium)\//, "Chrome"],
  [/\bVersion\/[\d.]+.*\bSafari\//, "Safari"],
  [/^curl\//, "curl"],
  [/^(python-requests|python-httpx|Python-urllib|aiohttp)\b/i, "Python"],
];
/** @type {[RegExp, string][]} */
const SYSTEMS = [
  [/\biPhone\b/, "iPhone"],
  [/\biPad\b/, "iPad"],
  [/\bAndroid\b/, "Android"],
  [/\bWindows\b/, "Windows"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMac OS X\b|\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** @param {string | null | undefined} userAgent @returns {string} such as "Firefox on Windows" */
export function deviceOf(userAgent) {
  const given = userAgent ?? "";
  const browser = BROWSERS.find(([pattern]) => pattern.test(given))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(given))?.[1];
  if (browser && system) return t("device.on", { browser, system });
  return browser ?? system ?? (given ? given.slice(0, 60) : t("device.unknown"));
}

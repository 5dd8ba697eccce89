/** What others do to a list while one looks at it: it is read again now and then, and who is missing is said. */
import { useEffect } from "../../vendor/preact.js";
import { trouble } from "../../client.js";
import { say } from "../../notices.js";
import { nameOf } from "../../presentation.js";
import { refreshList } from "../../records.js";
import { enumeration, t } from "../../texts.js";

const EVERY = 30_000;
/** How many are said by name. */
const NAMED = 3;

/** Shows nothing. @param {{kind: "logo" | "theme", busy: boolean}} props While one writes oneself it is not asked. */
export function ListSync({ kind, busy }) {
  useEffect(() => {
    const look = async () => {
      if (document.hidden || trouble.value || busy) return;
      const missing = await refreshList(kind);
      if (missing.length > 0) say(t("elsewhere.removed", { n: missing.length, names: named(kind, missing) }), { tone: "failed" });
    };
    const timer = setInterval(() => void look(), EVERY);
    addEventListener("focus", look);
    document.addEventListener("visibilitychange", look);
    return () => {
      clearInterval(timer);
      removeEventListener("focus", look);
      document.removeEventListener("visibilitychange", look);
    };
  }, [kind, busy]);
  return null;
}

/** @param {KindName} kind @param {any[]} records @returns {string} the first ones by name */
export function named(kind, records) {
  const names = records.slice(0, NAMED).map((record) => nameOf(kind, record));
  const more = records.length - names.length;
  return enumeration([...names, ...(more > 0 ? [t("andMore", { n: more })] : [])]);
}

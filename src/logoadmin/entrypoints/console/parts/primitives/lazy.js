/** Parts that are loaded when they are first shown: few ask for them, and everybody else waits less. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { isReachable, returned } from "../../reachability.js";
import { t } from "../../texts.js";
import { isUnsaved } from "../../router.js";
import { Button, EmptyState } from "./basics.js";

/**
 * Load something of the console, and again when the service is back.
 *
 * @template T
 * @param {() => Promise<T>} load
 * @returns {{found: {is: T} | undefined, problem: "" | "waits" | "missing"}} `waits` where the service cannot be reached
 */
export function useLoaded(load) {
  const [found, setFound] = useState(/** @type {{is: T} | undefined} */ (undefined));
  const [problem, setProblem] = useState(/** @type {"" | "waits" | "missing"} */ (""));
  useEffect(() => {
    if (found) return;
    let stays = true;
    const failed = async () => {
      const isThere = await isReachable();
      if (!stays) return;
      // Some browsers remember that a module could not be loaded, until the page is loaded again.
      if (isThere && problem === "waits" && !isUnsaved()) location.reload();
      else setProblem(isThere ? "missing" : "waits");
    };
    load().then((is) => stays && setFound({ is }), failed);
    return () => void (stays = false);
  }, [returned.value]);
  return { found, problem: found ? "" : problem };
}

/** @param {() => Promise<(props: any) => any>} load @param {() => any} [meanwhile] The placeholder while it loads. @returns {(props: any) => any} a component in its place */
export function lazy(load, meanwhile) {
  return (props) => {
    const { found, problem } = useLoaded(load);
    if (problem) return h(LoadError, { problem });
    return found ? h(found.is, props) : (meanwhile?.() ?? null);
  };
}

/** What cannot be loaded: without a connection, or because the service has another version of the console by now. @param {{problem: "waits" | "missing"}} props */
export function LoadError({ problem }) {
  return problem === "waits"
    ? h(EmptyState, { icon: "WifiOff", whole: true, title: t("unloaded.title") }, h("p", null, t("unloaded.text")))
    : h(EmptyState, { icon: "CircleAlert", whole: true, title: t("renewed.title") }, h(Button, { icon: "RefreshCw", onClick: () => location.reload() }, t("renewed.reload")));
}

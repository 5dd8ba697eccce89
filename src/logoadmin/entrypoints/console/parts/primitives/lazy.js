/** Parts that are loaded when they are first shown: few ask for them, and everybody else waits less. */
import { h, useEffect, useState } from "../../vendor/preact.js";
import { t } from "../../texts.js";
import { Button, EmptyState } from "./basics.js";

/**
 * @param {() => Promise<(props: any) => any>} load
 * @param {() => any} [meanwhile] The placeholder while it loads.
 * @returns {(props: any) => any} a component in its place
 */
export function lazy(load, meanwhile) {
  return (props) => {
    const [part, setPart] = useState(/** @type {{is: (props: any) => any} | undefined} */ (undefined));
    useEffect(() => void load().then((is) => setPart({ is }), () => setPart({ is: LoadError })), []);
    return part ? h(part.is, props) : (meanwhile?.() ?? null);
  };
}

/** What cannot be loaded, as where another version of the console is served meanwhile. */
export function LoadError() {
  return h(EmptyState, { icon: "CircleAlert", whole: true, title: t("renewed.title") }, h(Button, { icon: "RefreshCw", onClick: () => location.reload() }, t("renewed.reload")));
}

/** The active logos and themes that sites do not get, by reason and host; those that could not be fetched are tried again. */
import { h, useState } from "../../vendor/preact.js";
import { call, Failure } from "../../client.js";
import { sayFailure } from "../../notices.js";
import { KINDS } from "../../records.js";
import { may } from "../../session.js";
import { t, withTexts } from "../../texts.js";
import { Button } from "../primitives/basics.js";
import { lazy } from "../primitives/lazy.js";
import { aboutState } from "./about_state.js";
import { Named } from "./named.js";

/** @typedef {import("logoadmin/api").components["schemas"]["LeftOut"]} LeftOut */

const PinFailure = lazy(withTexts(() => import("./pin_failure.js").then((module) => module.PinFailure), "publication"));
/** The records of a group that are listed at first. */
const SHOWN = 20;
/** What another attempt may help against. */
export const PASSING = ["not_fetched", "not_pinned"];

/** Another attempt. @type {Record<"logo" | "theme", (id: number) => Promise<unknown>>} */
export const CHECK = {
  logo: (id) => call("post", "/api/logos/{logo_id}/pins/check", { path: { logo_id: id } }),
  theme: (id) => call("post", "/api/themes/{theme_id}/pins/check", { path: { theme_id: id } }),
};

/** @param {{list: LeftOut[], again: () => void}} props */
export function LeftOutGroups({ list, again }) {
  /** @type {Map<string, LeftOut[]>} */
  const groups = new Map();
  for (const each of list) {
    const key = `${each.code} ${each.host}`;
    groups.set(key, [...(groups.get(key) ?? []), each]);
  }
  const sorted = [...groups].sort(([, a], [, b]) => b.length - a.length);
  return h("div", { class: "stack loose" }, sorted.map(([key, records]) => h(Group, { key, records, again })));
}

/** @param {{records: LeftOut[], again: () => void}} props One or more. */
function Group({ records, again }) {
  const [most, setMost] = useState(SHOWN);
  const [left, setLeft] = useState(0);
  const [first] = records;
  if (!first) return null;
  const words = aboutState("left_out", { left_out: first }).replace(/\.$/, "");
  const mine = records.filter(({ kind }) => may(KINDS[kind === "logo" ? "logo" : "theme"].write));
  const retry = async () => {
    setLeft(mine.length);
    try {
      for (const [at, { kind, id }] of mine.entries()) {
        setLeft(mine.length - at);
        await CHECK[kind === "logo" ? "logo" : "theme"](id);
      }
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      sayFailure(error, () => void retry());
    } finally {
      setLeft(0);
      again();
    }
  };
  return h(
    "section",
    { class: "stack", "aria-label": words },
    h(
      "div",
      { class: "spread" },
      h("h3", { class: "group-head" }, `${words} (${records.length})`),
      PASSING.includes(first.code ?? "") && mine.length > 0 && h(Button, { icon: "RefreshCw", busy: left > 0, onClick: () => void retry() }, left > 0 ? t("publication.retrying", { n: left }) : t("tryAgain")),
    ),
    h(
      "ul",
      { class: "box divided", "aria-label": words },
      records.slice(0, most).map((each) =>
        h("li", { key: `${each.kind} ${each.id}`, class: "stack tight row" }, h(Named, each), each.code === "not_pinned" && h(PinFailure, { look: "hint", failure: each.reason })),
      ),
    ),
    records.length > most && h(Button, { onClick: () => setMost(most * 10) }, t("list.more")),
  );
}

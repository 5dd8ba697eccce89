/** The settings of the service, which only its operator changes, and where each comes from (contract J8). */
import { h } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { t } from "../../texts.js";
import { Skeleton, Unread } from "../primitives/basics.js";
import { useRead } from "../primitives/use_read.js";

/** @typedef {import("logoadmin/api").components["schemas"]["ServiceSetting"]} Setting */

export function ServiceSettings() {
  const { data, failure, again } = useRead(readAll);
  if (failure) return h(Unread, { failure, again: () => void again() });
  if (!data) return h(Skeleton, {});
  const given = data.filter(({ source }) => source !== null);
  const others = data.filter(({ source }) => source === null);
  return [
    given.length ? h(Facts, { key: "given", settings: given }) : h("p", { key: "none", class: "hint" }, t("settings.service.none")),
    others.length > 0 &&
      h("details", { key: "others", class: "stack" }, h("summary", null, t("settings.service.others", { n: others.length })), h(Facts, { settings: others })),
  ];
}

/** @param {AbortSignal} signal @returns {Promise<Setting[]>} */
const readAll = async (signal) => (await call("get", "/api/settings/service", { signal })).data.settings;

/** @param {{settings: Setting[]}} props */
const Facts = ({ settings }) =>
  h(
    "dl",
    { class: "divided facts" },
    settings.map(({ name, value, source }) =>
      h(
        "div",
        { key: name, class: "fact" },
        h("dt", { class: "mono" }, name),
        h(
          "dd",
          null,
          value === null ? t("settings.service.empty") : h("bdi", { class: "mono" }, value),
          source !== null && h("p", { class: "hint" }, t("settings.service.source", { source })),
        ),
      ),
    ),
  );

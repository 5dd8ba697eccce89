/** What this is: the program, what it stands on, and whose work it contains. */
import { h } from "../vendor/preact.js";
import { readFile, ROOT } from "../client.js";
import { FILES } from "../router.js";
import { pageConfig } from "../session.js";
import { t } from "../texts.js";
import { ViewHead } from "../parts/primitives/basics.js";
import { useRead } from "../parts/primitives/use_read.js";

/** @typedef {{packages: {name: string, version: string, license: string}[]}} Vendored */

export default function About() {
  const { data: vendored } = useRead(readManifest);
  return h(
    "div",
    { class: "view narrow" },
    h(ViewHead, { title: t("about.title") }),
    h(
      "dl",
      { class: "divided facts" },
      fact(t("about.version"), h("bdi", { class: "mono" }, pageConfig.version)),
      fact(t("about.database"), h("bdi", null, pageConfig.database)),
      fact(t("about.access"), t(`about.access.${pageConfig.access}`)),
      fact(t("about.interface"), h("span", { class: "line" }, out("docs", t("about.docs")), " · ", out("openapi.json", "openapi.json")), t("about.interface.text")),
      fact(t("about.license"), pageConfig.license ? h("bdi", null, pageConfig.license) : t("about.license.none")),
    ),
    h(
      "section",
      { class: "section" },
      h("h2", null, t("about.others")),
      h("p", { class: "hint" }, t("about.others.text")),
      vendored && Object.entries(vendored).map(([file, its]) => h(Packages, { key: file, file, its })),
    ),
  );
}

/** @returns {Promise<Record<string, Vendored>>} */
const readManifest = () => readFile(new URL("vendor/manifest.json", FILES));

/** @param {string} name @param {any} content @param {string} [more] */
function fact(name, content, more) {
  return h("div", { class: "fact" }, h("dt", null, name), h("dd", null, content, more && h("p", { class: "hint" }, more)));
}

/** What is no view opens beside the console. @param {string} path @param {string} text */
const out = (path, text) => h("a", { href: new URL(path, ROOT).href, target: "_blank", rel: "noopener" }, text);

/** @param {{file: string, its: Vendored}} props */
function Packages({ file, its }) {
  const license = new URL(`vendor/${file.replace(/\.\w+$/, ".LICENSE.txt")}`, FILES).href;
  return h(
    "div",
    { class: "box table-frame" },
    h(
      "table",
      { class: "table" },
      h("caption", { class: "caption" }, h("bdi", null, file), " · ", h("a", { href: license, target: "_blank", rel: "noopener" }, t("about.licenses"))),
      h("thead", null, h("tr", null, [t("about.package"), t("about.version"), t("about.license")].map((title) => h("th", { key: title, scope: "col" }, title)))),
      h(
        "tbody",
        null,
        its.packages.map(({ name, version, license: terms }) =>
          h("tr", { key: name }, h("th", { scope: "row", class: "mono" }, name), h("td", { class: "mono" }, version), h("td", null, terms)),
        ),
      ),
    ),
  );
}

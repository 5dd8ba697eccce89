/** The published version that readers have now, the link to its page, and the way to the newest version. */
import { h } from "../../vendor/preact.js";
import { ROOT, call } from "../../client.js";
import { status } from "../../reader_states.js";
import { day, enumeration, t } from "../../texts.js";
import { READ_LIMIT, timedFetch } from "../../network.js";
import { Button, Icon, Pending, rich, Time } from "../primitives/basics.js";
import { useRead, useRun } from "../primitives/hooks.js";

/** @typedef {{version: number, issued: number, expires: number}} Latest */

const PAGE = new URL("gallery/", ROOT);
const POINTER = new URL("latest.json", PAGE);
/** The service publishes within this time of a change, and is asked as often, in milliseconds. */
const PATIENCE = 3000;
const PAUSE = 300;

export function Published() {
  const { busy, run } = useRun();
  const { data, failure, again } = useRead(async (signal) => {
    const found = (await call("get", "/api/publication", { signal })).data;
    status.value = found;
    return { found, latest: await readLatest(found.version) };
  });
  if (!data) return h(Pending, { failure, again });
  const { found: { version, logos, themes }, latest } = data;
  return h("div", { class: "box stack panel" },
    h("p", null, t("publication.have", { what: enumeration([t("many.logo", { n: logos }), t("many.theme", { n: themes })]) })),
    latest && h("p", { class: "hint", role: "status" }, rich("publication.times", { issued: h(Time, { seconds: latest.issued }) }, { expires: day(latest.expires) })),
    latest && latest.version < version && h("p", { class: "remark" }, t("publication.behind")),
    h("div", { class: "cluster" },
      latest && h("a", { class: "button plain", href: PAGE.href, target: "_blank", rel: "noreferrer" }, h(Icon, { name: "Globe" }), t("page.see")),
      h(Button, { icon: "RefreshCw", busy: Boolean(busy), onClick: () => void run(again) }, t(latest ? "publication.now" : "publication.again")),
    ),
  );
}

/** Wait a moment for a version to be published, and return what is. @param {number} version @returns {Promise<Latest | undefined>} nothing where this service does not publish, or is away */
async function readLatest(version) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const { isServed, latest } = await readPointer();
    if (!isServed || (latest && latest.version >= version) || Date.now() > end) return latest;
    await new Promise((resolve) => setTimeout(resolve, PAUSE));
  }
}

/** @returns {Promise<{isServed: boolean, latest?: Latest}>} */
async function readPointer() {
  try {
    const response = await timedFetch(POINTER, { cache: "no-cache", credentials: "omit" }, READ_LIMIT);
    // Before the first publication.
    if (!response.ok) return { isServed: response.status === 503 };
    const { payload } = await response.json();
    return { isServed: true, latest: JSON.parse(atob(payload.replace(/-/g, "+").replace(/_/g, "/"))) };
  } catch {
    return { isServed: false };
  }
}

/** What an author made: the newest logos and themes with their pictures, and a way to all of them. */
import { h } from "../../vendor/preact.js";
import { call } from "../../client.js";
import { nameOf } from "../../presentation.js";
import { statesOf } from "../../reader_states.js";
import { t } from "../../texts.js";
import { Link, Skeleton, Unread } from "../primitives/basics.js";
import { Picture } from "../primitives/picture.js";
import { useRead } from "../primitives/use_read.js";

/** How many of each kind are shown here. */
const SHOWN = 12;
/** @type {Record<"logo" | "theme", (authorId: number, limit: number, signal: AbortSignal) => Promise<any[]>>} */
const READ = {
  logo: async (...what) => (await call("get", "/api/authors/{author_id}/logos", asked(...what))).data,
  theme: async (...what) => (await call("get", "/api/authors/{author_id}/themes", asked(...what))).data,
};

/** @param {number} authorId @param {number} limit @param {AbortSignal} signal */
const asked = (authorId, limit, signal) => ({ path: { author_id: authorId }, query: { limit, order: /** @type {const} */ ("desc") }, anonymous: true, signal });

/** @param {{authorId: number}} props */
export function MadeBy({ authorId }) {
  return /** @type {const} */ (["logo", "theme"]).map((kind) => h(Made, { key: kind, kind, authorId }));
}

/** @param {{kind: "logo" | "theme", authorId: number}} props */
function Made({ kind, authorId }) {
  // One more than is shown, to find out whether others exist.
  const { data, failure, again } = useRead((signal) => READ[kind](authorId, SHOWN + 1, signal), [kind, authorId]);
  const title = t(`${kind}s.title`);
  return h("section", { class: "section" },
    h("h2", null, title),
    failure && !data && h(Unread, { failure, again: () => void again() }),
    !data && !failure && h(Skeleton, {}),
    data?.length === 0 && h("p", { class: "hint" }, t(`author.made.no.${kind}s`)),
    data && data.length > 0 &&
      h("ul", { class: "made", "aria-label": title }, data.slice(0, SHOWN).map((artwork) => h(One, { key: artwork[`${kind}_id`], kind, artwork }))),
    data && data.length > SHOWN && h(Link, { to: `${kind}s?author=${authorId}`, class: "button quiet" }, t("author.made.all")),
  );
}

/** @param {{kind: "logo" | "theme", artwork: any}} props */
function One({ kind, artwork }) {
  const { blocked } = statesOf(kind, artwork[`${kind}_id`]);
  return h("li", null,
    h(Picture, { kind, url: artwork.preview_url }),
    h(Link, { to: `${kind}s/${artwork[`${kind}_id`]}`, dir: "auto", title: artwork.name }, nameOf(kind, artwork)),
    h("bdi", { class: "hint" }, artwork.target),
    blocked && h("span", { class: "problem", dir: "auto" }, t("work.blocked", { reason: blocked.reason })),
  );
}

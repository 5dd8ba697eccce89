/** What a member made, their own author record, and the way to propose something. */
import { h, useEffect } from "../vendor/preact.js";
import { nameOf } from "../presentation.js";
import { readStates } from "../reader_states.js";
import { navigate } from "../router.js";
import { t } from "../texts.js";
import { Made } from "../parts/artwork/made_by.js";
import { Button, EmptyState, Link, Skeleton, Unread, ViewHead } from "../parts/primitives/basics.js";
import { Icon } from "../parts/primitives/icon.js";
import { useOwnAuthor } from "../parts/proposals/own_author.js";

export default function Works() {
  useEffect(() => void readStates(), []);
  const { author, failure, again } = useOwnAuthor();
  return h("div", { class: "view" },
    h(ViewHead, { title: t("works.title") }, h(Button, { tone: "primary", icon: "Plus", shortcut: "N", onClick: () => void navigate("submit") }, t("submit.title.long"))),
    author === undefined && (failure ? h(Unread, { failure, again }) : h(Skeleton, {})),
    author === null &&
      h(EmptyState, { icon: "Image", title: t("works.empty") },
        h("p", null, t("works.empty.begin")),
        h("div", { class: "cluster" }, h(Link, { to: "works/author", class: "button plain" }, h(Icon, { name: "Brush" }), t("works.author.begin"))),
      ),
    author && [
      h("div", { key: "author", class: "box spread own-author" },
        h("span", null, h("span", { class: "hint" }, t("works.author.known")), " ", h("bdi", { class: "who" }, nameOf("author", author))),
        h(Link, { to: "works/author", class: "button quiet" }, h(Icon, { name: "Pencil" }), t("works.author.set")),
      ),
      .../** @type {const} */ (["logo", "theme"]).map((kind) => h(Made, { key: kind, kind, authorId: author.author_id, folder: "works/", most: 1000 })),
    ],
  );
}

/** The way to every view: a sidebar beside the work; on a phone a bar below it, of the places of work and one for the rest. */
import { h, useEffect, useId, useState } from "../../vendor/preact.js";
import { returned } from "../../client.js";
import { leave, me } from "../../session.js";
import { LANGUAGES, chooseLanguage, language, number, t } from "../../texts.js";
import { chooseTheme, PAGE, theme, THEMES } from "../../look.js";
import { isMeant, missingScope, place } from "../../place.js";
import { nameOf } from "../../presentation.js";
import { isMember, readQueue, readUnseen, reviews, unseen, waiting } from "../../proposals.js";
import { visits } from "../../router.js";
import { views } from "../../views.js";
import { Pick } from "../lists/toolbar.js";
import { Dialog } from "../primitives/dialog.js";
import { Menu } from "../primitives/menu.js";
import { Brand, Button, Icon, Link } from "../primitives/basics.js";
import { useLook } from "../primitives/hooks.js";

/** Only the first is in the bar of a phone. */
const PARTS = /** @type {const} */ (["work", "rest"]);

/** The way to a view waits for its list, in milliseconds: nothing there depends on the number of submissions. */
const LATER = 600;
/** How often it is read while nothing else happens, in milliseconds. */
const AGAIN = 60_000;

/** @param {{help: () => void, search: () => void}} props What shows the keys, and the search over everything. */
export function Sidebar({ help, search }) {
  const read = () => void Promise.all([readQueue({ ifOld: true }), readUnseen()]);
  const inputs = [visits.value, returned.value, reviews()];
  useEffect(() => {
    const timer = setTimeout(read, LATER);
    return () => clearTimeout(timer);
  }, inputs);
  useLook(read, AGAIN, inputs);
  const [isMore, setMore] = useState(false);
  return h("nav", { class: "sidebar", "aria-label": t("sidebar") },
    h("div", { class: "stack tight sidebar-gallery" }, h(Gallery, {})),
    h(SearchButton, { search }),
    h("div", { class: "sidebar-links" }, PARTS.filter(hasViews).map((part) => h(Part, { key: part, part }))),
    h(
      "button",
      {
        type: "button",
        class: "sidebar-link sidebar-more",
        "aria-haspopup": "dialog",
        "aria-current": views.some((view) => view.path === current() && (view.sidebar !== "work" || view.isInMore)) ? "true" : undefined,
        onClick: () => setMore(true),
      },
      h(Icon, { name: "Ellipsis" }),
      t("more"),
    ),
    h(Menu, { look: "personal", label: h(Name, {}) }, h(Personal, { help })),
    isMore && h(More, { help, close: () => setMore(false) }),
  );
}

/** Whose gallery it is, and the way to its page. */
const Gallery = () => [
  h(Link, { key: "home", to: "", class: "sidebar-home" }, h(Brand, {})),
  PAGE && h("a", { key: "page", class: "sidebar-link", href: PAGE.href, target: "_blank", rel: "noreferrer" }, h(Icon, { name: "Globe" }), t("page.see")),
];

/** As the keys are called where the console is open. */
export const SEARCH_KEYS = /Mac|iP/.test(navigator.platform) ? ["⌘", "K"] : ["Ctrl", "K"];

/** @param {{search: () => void}} props */
const SearchButton = ({ search }) =>
  h(
    "button",
    { type: "button", class: "sidebar-link sidebar-search", "aria-haspopup": "dialog", "aria-keyshortcuts": "Control+K Meta+K", onClick: search },
    h(Icon, { name: "Search" }),
    h("span", null, t("palette.open")),
    h("kbd", { "aria-hidden": true }, SEARCH_KEYS.join(" ")),
  );

/** @param {typeof PARTS[number]} part @returns {boolean} whether it has views for the user */
const hasViews = (part) => views.some((view) => view.sidebar === part && isMeant(view));

/** The path of the view that is marked. */
const current = () => {
  const { view } = place.value;
  const path = view?.under ?? view?.path;
  return path === "submissions" && isMember() ? "works" : path;
};

/** @param {{part: typeof PARTS[number], visited?: () => void, hasMore?: boolean}} props `hasMore`: also the views for which the bar of a small phone lacks room. */
function Part({ part, visited, hasMore = false }) {
  return h("ul", { class: `sidebar-part sidebar-${part}` },
    views
      .filter((view) => isMeant(view) && (view.sidebar === part || (hasMore && view.isInMore)))
      .map((view) =>
        h("li", { key: view.path, class: view.isInMore ? "in-more" : undefined },
          missingScope(view) ? h(Closed, { view }) : h(Open, { view, visited }),
        ),
      ),
  );
}

/** @param {{view: import("../../views.js").View}} props */
const Words = ({ view }) => [view.icon && h(Icon, { key: "icon", name: view.icon }), h("span", { key: "words" }, titleOf(view))];

/** @param {import("../../views.js").View} view @returns {string} */
export const titleOf = ({ title, label = title }) => t(label);

/** The way to a view, with the number of submissions that wait. @param {{view: import("../../views.js").View, visited: (() => void) | undefined}} props */
function Open({ view, visited }) {
  const id = useId();
  const count = view.path === "submissions" ? waiting() : 0;
  return h(
    Link,
    { to: view.path, class: "sidebar-link", "aria-current": current() === view.path ? "page" : undefined, "aria-describedby": count > 0 ? id : undefined, onClick: visited },
    h(Words, { view }),
    view.path === "works" && unseen.value > 0 && h("span", { class: "dot" }, h("span", { class: "hidden" }, t("works.new"))),
    count > 0 && h("span", { id, class: "sidebar-count", "aria-hidden": true }, number(count)),
  );
}

/** A view that the user may not see, with the reason. @param {{view: import("../../views.js").View}} props */
function Closed({ view }) {
  const id = useId();
  const why = t("needsScope", { scope: missingScope(view) });
  return h("a", { class: "sidebar-link", role: "link", tabIndex: 0, "aria-disabled": true, "aria-describedby": id, title: why },
    h(Words, { view }),
    h("span", { id, hidden: true }, why),
  );
}

/** The entries for which the bar of a phone has no room. @param {{help: () => void, close: () => void}} props */
function More({ help, close }) {
  const keys = () => {
    close();
    help();
  };
  return h(Dialog, { title: t("more"), close },
    h("div", { class: "more-links" }, h(Gallery, {})),
    h("div", { class: "more-links" }, h(Part, { part: "rest", visited: close, hasMore: true })),
    h("div", { class: "more-self" }, h(Name, {}), h(Personal, { help: keys, visited: close })),
    h("div", { class: "cluster dialog-actions" }, h(Button, { tone: "primary", onClick: close }, t("close"))),
  );
}

const Name = () => h("bdi", { class: "personal-name" }, nameOf("user", me.value));

/** The account, how the console looks and speaks to the person, and the way out. @param {{help: () => void, visited?: () => void}} props */
function Personal({ help, visited }) {
  /** @type {[string, string][]} */
  const themes = THEMES.map((each) => [each, t(`theme.${each}`)]);
  return [
    h(Link, { to: "account", class: "button plain", "aria-current": current() === "account" ? "page" : undefined, onClick: visited }, h(Icon, { name: "CircleUser" }), t("account.title")),
    h(Pick, { label: t("language"), value: language.value, choices: Object.entries(LANGUAGES), pick: (chosen) => void chooseLanguage(/** @type {any} */ (chosen)) }),
    h(Pick, { label: t("theme"), value: theme.value, choices: themes, pick: (chosen) => chooseTheme(/** @type {any} */ (chosen)) }),
    !matchMedia("(pointer: coarse)").matches && h(Button, { icon: "Keyboard", onClick: help }, t("help")),
    h(Button, { icon: "LogOut", onClick: () => void leave() }, t("signOut")),
  ];
}

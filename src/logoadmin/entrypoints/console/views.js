/**
 * The views of the console, one row for each: its path, its loader, and its place in the sidebar.
 *
 * @typedef {object} View
 * @property {string} path Below `/console/`; `:name` is a number that the page gets in `params`.
 * @property {() => Promise<{default: (props: any) => any}>} load Its page gets `params` and `kind`.
 * @property {"logo" | "theme"} [kind] What it shows, where one page shows both.
 * @property {string[]} [styles] The sheets that it has beside those of all views, if not `STYLES`.
 * @property {boolean} [isList] Whether it needs no texts but those that the modules of the lists mention.
 * @property {import("./texts.js").TextPart} [texts] Those that it needs besides the texts of most views.
 * @property {TextKey} title
 * @property {TextKey} [label] In the sidebar, where that is not its title.
 * @property {string} [under] The path of the view that the sidebar marks as the current one; its own where none is named.
 * @property {"work" | "rest"} [sidebar] The part of the sidebar that names it; none where it is absent.
 * @property {IconName} [icon] In the sidebar and in the search over everything, which finds it.
 * @property {boolean} [isInMore] Whether the bar of a small phone has no room for it.
 * @property {string[]} [scopes] Of these, the user must hold one to see anything in it.
 * @property {"members" | "everybody"} [audience] `members`: those who may only propose; without it, everybody but them.
 */

export const STYLES = ["artwork", "people", "record"];

/** @type {View[]} */
export const views = [
  { path: "", load: () => import("./pages/overview.js"), styles: [...STYLES, "proposals"], texts: "publication", title: "overview.title", sidebar: "work", icon: "LayoutDashboard" },
  { path: "works", load: () => import("./pages/works.js"), styles: ["proposals"], texts: "proposals", audience: "members", title: "works.title", sidebar: "work", icon: "Image" },
  { path: "works/logos/:logo_id", load: () => import("./pages/submit.js"), styles: [...STYLES, "proposals"], texts: "proposals", audience: "members", kind: "logo", title: "logo.title", under: "works" },
  { path: "works/themes/:theme_id", load: () => import("./pages/submit.js"), styles: [...STYLES, "proposals"], texts: "proposals", audience: "members", kind: "theme", title: "theme.title", under: "works" },
  { path: "submit", load: () => import("./pages/submit.js"), styles: [...STYLES, "proposals"], texts: "proposals", audience: "members", title: "submit.title", sidebar: "work", icon: "Plus" },
  { path: "submissions", load: () => import("./pages/submissions.js"), styles: ["lists", "proposals"], texts: "proposals", title: "submissions.title", sidebar: "work", icon: "Inbox", scopes: ["logos:write", "themes:write", "authors:write", "proposals:write"] },
  { path: "submissions/:proposal_id", load: () => import("./pages/submission.js"), styles: [...STYLES, "proposals"], texts: "proposals", audience: "everybody", title: "submission.title", under: "submissions" },
  { path: "submissions/:proposal_id/changes/:place", load: () => import("./pages/proposed_change.js"), styles: [...STYLES, "proposals"], texts: "proposals", audience: "everybody", title: "submission.title", under: "submissions" },
  { path: "logos", load: () => import("./pages/artworks.js"), styles: ["lists"], isList: true, kind: "logo", title: "logos.title", sidebar: "work", icon: "Image" },
  { path: "logos/new", load: () => import("./pages/artwork.js"), kind: "logo", title: "logos.new", under: "logos" },
  { path: "logos/:logo_id", load: () => import("./pages/artwork.js"), kind: "logo", title: "logo.title", under: "logos" },
  { path: "themes", load: () => import("./pages/artworks.js"), styles: ["lists"], isList: true, kind: "theme", title: "themes.title", sidebar: "work", icon: "Palette" },
  { path: "themes/new", load: () => import("./pages/artwork.js"), kind: "theme", title: "themes.new", under: "themes" },
  { path: "themes/:theme_id", load: () => import("./pages/artwork.js"), kind: "theme", title: "theme.title", under: "themes" },
  { path: "authors", load: () => import("./pages/authors.js"), styles: ["lists"], isList: true, title: "authors.title", sidebar: "work", isInMore: true, icon: "Brush" },
  { path: "authors/new", load: () => import("./pages/author.js"), title: "authors.new", under: "authors" },
  { path: "authors/:author_id", load: () => import("./pages/author.js"), title: "author.title", under: "authors" },
  { path: "users", load: () => import("./pages/users.js"), styles: ["people"], isList: true, title: "users.title", label: "people.title", sidebar: "rest", icon: "Users", scopes: ["users:read", "roles:read"] },
  { path: "users/new", load: () => import("./pages/user.js"), styles: [...STYLES, "factors"], texts: "factors", title: "users.new", under: "users" },
  { path: "users/:user_id", load: () => import("./pages/user.js"), styles: [...STYLES, "factors"], texts: "factors", title: "user.title", under: "users" },
  { path: "roles", load: () => import("./pages/roles.js"), styles: ["people"], isList: true, title: "roles.title", under: "users", icon: "ShieldCheck", scopes: ["roles:read"] },
  { path: "roles/new", load: () => import("./pages/role.js"), texts: "factors", title: "roles.new", under: "users" },
  { path: "roles/:role_id", load: () => import("./pages/role.js"), texts: "factors", title: "role.title", under: "users" },
  { path: "account", load: () => import("./pages/account.js"), styles: [...STYLES, "factors"], texts: "factors", audience: "everybody", title: "account.title", icon: "CircleUser" },
  { path: "history", load: () => import("./pages/history.js"), title: "history.title", sidebar: "rest", icon: "History", scopes: ["changes:read"] },
  { path: "history/:change_id", load: () => import("./pages/history.js"), title: "history.title", under: "history", scopes: ["changes:read"] },
  { path: "import", load: () => import("./pages/import_export.js"), texts: "service", title: "move.title", under: "settings", icon: "Upload" },
  { path: "settings", load: () => import("./pages/settings.js"), texts: "service", title: "settings.title", sidebar: "rest", icon: "Settings2" },
  { path: "pictures", load: () => import("./pages/pictures.js"), styles: [...STYLES, "proposals"], texts: "service", title: "settings.pictures", under: "settings", scopes: ["users:read"] },
];

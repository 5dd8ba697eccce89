"""The table of endpoints (spec §Endpoints, §Versioning, contract C1, D).

Routes, the OpenAPI document and the test of declared statuses are derived from it.
"""

from typing import Final

from logoadmin.domain.changes import bulk_changes as bulk
from logoadmin.domain.changes import history as changes
from logoadmin.domain.changes import import_export
from logoadmin.domain.gallery import artworks, authors
from logoadmin.domain.gallery import shared_settings as settings
from logoadmin.domain.identity import roles, users
from logoadmin.domain.identity.factors import factor_commands as factors
from logoadmin.domain.identity.factors.factor_records import (
    ListedFactor,
    RemovedUserFactors,
)
from logoadmin.domain.identity.role_effects import RoleEffect
from logoadmin.domain.identity.sessions import sessions
from logoadmin.domain.identity.sessions.session_records import (
    RemovedUserSessions,
)
from logoadmin.domain.kernel.kinds import AUTHORS, LOGOS, ROLES, THEMES, USERS, AnyKind
from logoadmin.domain.kernel.lists import Listing
from logoadmin.domain.kernel.records import (
    Author,
    Change,
    ImportedCounts,
    ListedKind,
    Logo,
    LogoAuthor,
    RemovedAuthor,
    RemovedAvatar,
    RemovedLogo,
    RemovedLogoAuthor,
    RemovedRole,
    RemovedTheme,
    RemovedThemeAuthor,
    RemovedUser,
    Role,
    SharedSettings,
    Theme,
    ThemeAuthor,
    User,
)
from logoadmin.domain.publication import publication_service as publication
from logoadmin.domain.publication.css import unsaved_css as css
from logoadmin.domain.publication.css.verdict import Verdict
from logoadmin.domain.publication.pins import artwork_css, pins
from logoadmin.domain.publication.pins.pinned_imports import PinnedCopies, PinnedImport
from logoadmin.domain.publication.publication_records import PublicationStatus
from logoadmin.entrypoints.http_api.auth_operations import AUTH_OPERATIONS, RECENT
from logoadmin.entrypoints.http_api.operation import Operation

_USER, _ROLE, _AUTHOR, _THEME, _LOGO = (
    "/api/users/{user_id}",
    "/api/roles/{role_id}",
    "/api/authors/{author_id}",
    "/api/themes/{theme_id}",
    "/api/logos/{logo_id}",
)

# Sentences that several descriptions share.
_LEFT_OUT: Final = "Omitted fields stay unchanged."
_IS_BLOCKED: Final = "`active: true` is 409 while it is blocked, unless `unblock: true` lifts the block."
_NEW_ARTWORK: Final = "It has no authors yet, and is inactive unless `active` is true."
_WITH_AUTHORS: Final = "With its authors, in the order they were linked."
_STOPS: Final = (
    "Switches it off, and has the readers of the published gallery stop applying it at once. It stays blocked, even if "
    "it is removed, until it is switched on or the block is undone. The reason is in the history and is published."
)
_LINKS_GO: Final = "The links to its authors are removed; the authors stay."
_VERDICT: Final = (
    "Every host that a browser contacts if the CSS is applied, its imports, and its risks by line and column, judged "
    "from the text alone. CSS that cannot be parsed has the risk `invalid`."
)
_IN_ORDER: Final = "In the order they were linked."
_AS_LAST: Final = "The author is added at the end. If already linked, the existing link is returned."
_IN_BODY: Final = "The author is named in the body. 404 if not linked."
_BY_PATH: Final = "The author is named in the path. 404 if not linked."
_PINS: Final = (
    "Readers get copies of the style sheets that the CSS imports. In the order of the CSS; `sha256` is `null` until an "
    "import is pinned, and `difference` shows what the origin has by now."
)
_COPIES: Final = (
    "As readers get it, and as they would get it if every offer were accepted: the CSS with the sheets in "
    "place of their imports, and the verdict on each."
)
_CHECK: Final = (
    "Fetches the imports with all that they import, pins those without a copy, and stores what the others offer. What "
    "is pinned stays pinned. May take 20 seconds. 409 if the service does not fetch imports."
)
_ACCEPT: Final = (
    "Pins what the origins offered when they were last asked: all of it, or the sheets that are named. 409 if nothing "
    "or something else is offered. In the history, the action is `pins_accepted`; it can be undone."
)


def _those(kind: AnyKind) -> str:
    return f"By `{kind.id_field}`, or those that are asked for."


def _all(kind: AnyKind) -> str:
    return f"All {kind.plural}, by `{kind.id_field}`, or those that are asked for."


# fmt: off
OPERATIONS: Final = (
    *AUTH_OPERATIONS,

    Operation("contract L5", "GET /api/publication", publication.ShowPublication, "publication.status",
              PublicationStatus, "Show the status of the published gallery",
              "The active logos and themes that readers of the published gallery do not get, with the reasons; the "
              "imports that have changed at their origin; and the blocked records. Requires `logos:write` or "
              "`themes:write`."),
    Operation("contract L4", "POST /api/css/verdict", css.JudgeCss, "css.judge", Verdict,
              "Judge CSS that is not saved",
              "As for a logo or a theme with this CSS, but without pinned imports. Nothing is stored. Two texts are "
              "judged at a time, others wait; what takes longer than 2 seconds is `invalid`, with the `reason`. "
              "Requires `logos:write` or `themes:write`."),
    Operation("contract J8", "GET /api/settings", settings.GetSettings, "settings.get", SharedSettings,
              "Get the settings for everybody", "Before the first change, there are no hosts. Requires any token."),
    Operation("contract J8", "PATCH /api/settings", settings.AmendSettings, "settings.amend", SharedSettings,
              "Change the settings for everybody",
              f"{_LEFT_OUT} In the history, the settings are the record 1 of the kind `settings`, and a change of them "
              "can be undone."),
    Operation("contract G", "GET /api/changes", changes.ListChanges, "changes.list", Listing[Change],
              "List changes",
              "Every change of a user, role, author, theme or logo, the oldest first. To follow them, request those "
              "`after` the last one that you have: none is ever missed. `changes:read` alone shows the "
              "usernames, avatars and roles of users, and the scopes of roles."),
    Operation("contract J7", "POST /api/changes", bulk.ApplyChanges, "bulk.apply", Listing[Change],
              "Make many changes",
              "Creates, changes and removes up to 1,000 records: all of them, or none. Each change requires the scope "
              "of its own operation and follows its rules; `version` is the number in the record's `ETag`. Returns the "
              "changes that were made, which can be undone as one request. An error names the first change that cannot "
              "be made by its place, counted from 0: `Change 3: Logo 12 not found`.", also=(400, 404, 409, 412)),
    Operation("contract G2", "POST /api/changes/{change_id}/revert", changes.Revert, "changes.revert", Change,
              "Undo a change",
              "Returns a new change: an amended record gets its old values, a created record is "
              "removed, a removed record is restored. 409 if the record has changed since. Requires the scope "
              "to change such records.", also=(400, 409)),
    Operation("contract G4", "POST /api/changes/revert", changes.RevertRequest, "changes.revert_request",
              Listing[Change], "Undo a request",
              "Undoes all changes of one request, such as an import, the newest first, and returns the new changes. "
              "All or nothing: 409 names a record that has changed since. A password "
              "that the request set stays. Requires the scopes to change all kinds of record concerned.",
              also=(400, 404, 409)),

    Operation("contract I4", "POST /api/import", import_export.ImportRecords, "import_export.load",
              dict[ListedKind, ImportedCounts], "Import records",
              "Accepts JSON Lines, one record a line: its `kind` and its fields, for a logo or theme `author_ids` in "
              "place of `authors`. Each is created under its id or amended, and without an id created under a new one; "
              "all of them, or none. Returns how many of each kind were created, amended, and found unchanged. `loc` "
              "of a problem is `line`, the number of the line, and the field. Requires the scopes to change the kinds "
              "of record in it.",
              also=(409, 429), takes_jsonl=True),
    Operation("contract I4", "GET /api/export", import_export.ExportRecords, "import_export.dump", str,
              "Export records",
              "Returns JSON Lines that can be imported: a snapshot of all records, or of the requested "
              "kinds. Password hashes are never included. Requires `users:read` and `roles:read` if users and roles "
              "are included.", also=(429,), attachment="gallery.jsonl"),

    Operation("spec §Endpoints 1", "GET /api/users", users.ListUsers, "users.list", Listing[User],
              "List users", _all(USERS)),
    Operation("spec §Endpoints 2", "POST /api/users", users.CreateUser, "users.create", User,
              "Create a user", "You choose the `user_id`. The user gets role 1 and can sign in at once.", success=201),
    Operation("spec §Endpoints 3", f"GET {_USER}", users.GetUser, "users.get", User,
              "Get a user", "Users may read their own."),
    Operation("contract D users", f"PATCH {_USER}", users.AmendUser, "users.amend", User,
              "Change a user", f"{_LEFT_OUT} A role with more scopes requires a sign-in at most 10 minutes old.",
              also=(409,)),
    Operation("contract D users", f"DELETE {_USER}", users.RemoveUser, "users.remove", RemovedUser,
              "Remove a user", "Their sessions and service keys end at once.", also=(409,)),
    Operation("spec §Endpoints 4", f"DELETE {_USER}/avatar", users.RemoveAvatar, "users.remove_avatar", RemovedAvatar,
              "Remove a user's avatar", "Returns the removed avatar, an empty text if there was none."),
    Operation("contract D users", f"PUT {_USER}/password", users.SetPassword, "users.set_password", User,
              "Set a user's password",
              "The user's other sessions end. Users may set their own with `current_password`: 403 if it is wrong, "
              "which counts as a failed sign-in, and 429 after many of those. That of another user requires a sign-in "
              "at most 10 minutes old. Under `guarded`, a password that is too short or very common is 422.",
              also=(429,)),
    Operation("contract C6", f"DELETE {_USER}/sessions", sessions.RemoveUserSessions, "sessions.remove_all",
              RemovedUserSessions, "End a user's sessions",
              "All their tokens become invalid; service keys stay. Not with a service key."),
    Operation("contract O1", f"GET {_USER}/factors", factors.ListUserFactors, "factors.list_of_user",
              tuple[ListedFactor, ...], "List a user's second factors", "By `factor_id`."),
    Operation("contract O1", f"DELETE {_USER}/factors", factors.RemoveUserFactors, "factors.remove_all",
              RemovedUserFactors, "Remove a user's second factors",
              f"For users who have lost them, with their recovery codes. Their sessions end. {RECENT}", also=(409,)),

    Operation("contract D roles", "GET /api/roles", roles.ListRoles, "roles.list", Listing[Role],
              "List roles", _all(ROLES)),
    Operation("contract D roles", "POST /api/roles", roles.CreateRole, "roles.create", Role,
              "Create a role", "You cannot grant a scope that you do not hold.", success=201),
    Operation("contract D roles", f"GET {_ROLE}", roles.GetRole, "roles.get", Role,
              "Get a role", "With its scope: what its users may do."),
    Operation("spec §Endpoints 5", f"PATCH {_ROLE}", roles.AmendRole, "roles.amend", Role,
              "Change a role", "The rights of its users change at once. Omitted fields stay unchanged. More scopes "
              "require a sign-in at most 10 minutes old. With `dry_run=true`, nothing changes, and the response shows "
              "what would change for whom.",
              also=(409,), dry_run=("roles.preview", RoleEffect)),
    Operation("contract D roles", f"DELETE {_ROLE}", roles.RemoveRole, "roles.remove", RemovedRole,
              "Remove a role", "409 while a user has it, and for role 1, the role of new users.", also=(409,)),

    Operation("contract D authors", "GET /api/authors", authors.ListAuthors, "authors.list", Listing[Author],
              "List authors", _all(AUTHORS)),
    Operation("spec §Endpoints 6", "POST /api/authors", authors.CreateAuthor, "authors.create", Author,
              "Create an author", "With their number and their name at the community site.", success=201),
    Operation("contract D authors", f"GET {_AUTHOR}", authors.GetAuthor, "authors.get", Author,
              "Get an author", "Their works are at `/logos` and `/themes` below it."),
    Operation("spec §Endpoints 7", f"PATCH {_AUTHOR}", authors.AmendAuthor, "authors.amend", Author,
              "Change an author", _LEFT_OUT),
    Operation("contract D authors", f"DELETE {_AUTHOR}", authors.RemoveAuthor, "authors.remove", RemovedAuthor,
              "Remove an author", "Their logos and themes stay, without the author."),
    Operation("contract D authors", f"GET {_AUTHOR}/logos", artworks.ListAuthorLogos, "logos.of_author", Listing[Logo],
              "List an author's logos", _those(LOGOS)),
    Operation("contract D authors", f"GET {_AUTHOR}/themes", artworks.ListAuthorThemes, "themes.of_author",
              Listing[Theme], "List an author's themes", _those(THEMES)),

    Operation("contract D themes", "GET /api/themes", artworks.ListThemes, "themes.list", Listing[Theme],
              "List themes", _all(THEMES)),
    Operation("contract D themes", "POST /api/themes", artworks.CreateTheme, "themes.create", Theme,
              "Create a theme", _NEW_ARTWORK, success=201),
    Operation("contract D themes", f"GET {_THEME}", artworks.GetTheme, "themes.get", Theme,
              "Get a theme", _WITH_AUTHORS),
    Operation("contract D themes", f"PATCH {_THEME}", artworks.AmendTheme, "themes.amend", Theme,
              "Change a theme", f"{_LEFT_OUT} {_IS_BLOCKED}", also=(409,)),
    Operation("contract L3", f"POST {_THEME}/block", artworks.BlockTheme, "themes.block", Theme,
              "Block a theme", _STOPS),
    Operation("contract D themes", f"DELETE {_THEME}", artworks.RemoveTheme, "themes.remove", RemovedTheme,
              "Remove a theme", _LINKS_GO),
    Operation("contract L5", f"GET {_THEME}/pins", pins.GetThemePins, "pins.list", tuple[PinnedImport, ...],
              "List a theme's imports", _PINS),
    Operation("contract L5", f"GET {_THEME}/pins/copies", pins.GetThemeCopies, "pins.copies", PinnedCopies,
              "Show a theme's CSS with its pinned and its offered imports", _COPIES),
    Operation("contract L5", f"POST {_THEME}/pins/check", pins.CheckThemePins, "pins.check", tuple[PinnedImport, ...],
              "Compare a theme's imports with their origins", _CHECK, also=(409,)),
    Operation("contract L5", f"POST {_THEME}/pins/accept", pins.AcceptThemePins, "pins.accept",
              tuple[PinnedImport, ...], "Accept what the origins of a theme's imports offer", _ACCEPT, also=(409,)),
    Operation("contract D themes", f"GET {_THEME}/authors", artworks.ListThemeAuthors, "themes.authors",
              Listing[Author], "List a theme's authors", _IN_ORDER),
    Operation("contract L4", f"GET {_THEME}/css", artwork_css.GetThemeCss, "themes.css", Verdict,
              "Judge a theme's CSS", _VERDICT),
    Operation("contract D themes", f"POST {_THEME}/authors", artworks.LinkThemeAuthor, "themes.link", ThemeAuthor,
              "Add an author to a theme", _AS_LAST, also=(409,)),
    Operation("spec §Endpoints 8", f"DELETE {_THEME}/authors", artworks.UnlinkThemeAuthor, "themes.unlink",
              RemovedThemeAuthor, "Take an author off a theme", _IN_BODY),
    Operation("contract D themes", f"DELETE {_THEME}/authors/{{author_id}}", artworks.RemoveThemeAuthor,
              "themes.unlink", RemovedThemeAuthor, "Take an author off a theme, by path", _BY_PATH),

    Operation("contract D logos", "GET /api/logos", artworks.ListLogos, "logos.list", Listing[Logo],
              "List logos", _all(LOGOS)),
    Operation("contract D logos", "POST /api/logos", artworks.CreateLogo, "logos.create", Logo,
              "Create a logo", _NEW_ARTWORK, success=201),
    Operation("spec §Endpoints 9", f"GET {_LOGO}", artworks.GetLogo, "logos.get", Logo,
              "Get a logo", _WITH_AUTHORS),
    Operation("contract D logos", f"PATCH {_LOGO}", artworks.AmendLogo, "logos.amend", Logo,
              "Change a logo", f"{_LEFT_OUT} {_IS_BLOCKED}", also=(409,)),
    Operation("contract L3", f"POST {_LOGO}/block", artworks.BlockLogo, "logos.block", Logo,
              "Block a logo", _STOPS),
    Operation("spec §Endpoints 10", f"DELETE {_LOGO}", artworks.RemoveLogo, "logos.remove", RemovedLogo,
              "Remove a logo", _LINKS_GO),
    Operation("contract L5", f"GET {_LOGO}/pins", pins.GetLogoPins, "pins.list", tuple[PinnedImport, ...],
              "List a logo's imports", _PINS),
    Operation("contract L5", f"GET {_LOGO}/pins/copies", pins.GetLogoCopies, "pins.copies", PinnedCopies,
              "Show a logo's CSS with its pinned and its offered imports", _COPIES),
    Operation("contract L5", f"POST {_LOGO}/pins/check", pins.CheckLogoPins, "pins.check", tuple[PinnedImport, ...],
              "Compare a logo's imports with their origins", _CHECK, also=(409,)),
    Operation("contract L5", f"POST {_LOGO}/pins/accept", pins.AcceptLogoPins, "pins.accept",
              tuple[PinnedImport, ...], "Accept what the origins of a logo's imports offer", _ACCEPT, also=(409,)),
    Operation("spec §Endpoints 11", f"GET {_LOGO}/authors", artworks.ListLogoAuthors, "logos.authors", Listing[Author],
              "List a logo's authors", _IN_ORDER),
    Operation("contract L4", f"GET {_LOGO}/css", artwork_css.GetLogoCss, "logos.css", Verdict,
              "Judge a logo's CSS", _VERDICT),
    Operation("spec §Endpoints 12", f"POST {_LOGO}/authors", artworks.LinkLogoAuthor, "logos.link", LogoAuthor,
              "Add an author to a logo", _AS_LAST, also=(409,)),
    Operation("contract D logos", f"DELETE {_LOGO}/authors", artworks.UnlinkLogoAuthor, "logos.unlink",
              RemovedLogoAuthor, "Take an author off a logo", _IN_BODY),
    Operation("contract D logos", f"DELETE {_LOGO}/authors/{{author_id}}", artworks.RemoveLogoAuthor,
              "logos.unlink", RemovedLogoAuthor, "Take an author off a logo, by path", _BY_PATH),
)
# fmt: on

"""Administration of a gallery of site logos and themes (contract H6).

:func:`connect` opens a gallery on a database or in memory, and :func:`asgi` makes a web application of it::

    import logoadmin

    with logoadmin.connect("memory:") as gallery:
        ann = gallery.authors.create(logoadmin.CreateAuthor(user_id=7, username="Ann"))

Importing this loads neither database nor web code; the names below come from where they live when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from logoadmin.domain.logo_admin import LogoAdmin, metrics
    from logoadmin.domain.model.access import (
        ANONYMOUS,
        OWNER,
        Anonymous,
        Caller,
        KeyHolder,
        Owner,
        Policy,
        Scope,
        SignedIn,
    )
    from logoadmin.domain.model.causes import Cause
    from logoadmin.domain.model.css import Risk, Verdict
    from logoadmin.domain.model.effects import AffectedUser, RoleEffect
    from logoadmin.domain.model.errors import (
        BadLine,
        Conflict,
        DuplicateEntry,
        DuplicateUpdate,
        InvalidInput,
        InvalidLines,
        InvalidToken,
        LogoAdminError,
        NotAuthenticated,
        NotFound,
        NotModified,
        NotPermitted,
        Outdated,
        OutgoingError,
        Problem,
        SchemaMismatch,
        SettingsError,
        SignInRefused,
        StartError,
        StorageUnavailable,
        TablesMissing,
        TooManyChanges,
        TooManySignIns,
    )
    from logoadmin.domain.model.lists import Listing
    from logoadmin.domain.model.pins import PinnedImport
    from logoadmin.domain.model.publication import Blocked, ChangedImport, LeftOut, Publication, PublicationStatus
    from logoadmin.domain.model.records import (
        Author,
        Change,
        Imported,
        ImportedCounts,
        Kind,
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
    from logoadmin.domain.model.sessions import (
        EndedSession,
        ListedSession,
        Me,
        NewServiceKey,
        RemovedServiceKey,
        RemovedSession,
        RemovedUserSessions,
        ServiceKey,
        Tokens,
    )
    from logoadmin.domain.services.artworks import (
        AmendLogo,
        AmendTheme,
        BlockLogo,
        BlockTheme,
        CreateLogo,
        CreateTheme,
        GetLogo,
        GetLogoCss,
        GetTheme,
        GetThemeCss,
        LinkLogoAuthor,
        LinkThemeAuthor,
        ListAuthorLogos,
        ListAuthorThemes,
        ListLogoAuthors,
        ListLogos,
        ListThemeAuthors,
        ListThemes,
        RemoveLogo,
        RemoveTheme,
        UnlinkLogoAuthor,
        UnlinkThemeAuthor,
    )
    from logoadmin.domain.services.authors import AmendAuthor, CreateAuthor, GetAuthor, ListAuthors, RemoveAuthor
    from logoadmin.domain.services.bulk import ApplyChanges, BulkChange
    from logoadmin.domain.services.changes import ListChanges, Revert, RevertRequest
    from logoadmin.domain.services.import_export import ExportRecords, ImportRecords
    from logoadmin.domain.services.keys import CreateKey, ListKeys, RemoveKey
    from logoadmin.domain.services.pins import (
        AcceptLogoPins,
        AcceptThemePins,
        CheckLogoPins,
        CheckThemePins,
        GetLogoPins,
        GetThemePins,
    )
    from logoadmin.domain.services.preferences import GetPreferences, SetPreferences
    from logoadmin.domain.services.publication import ShowPublication
    from logoadmin.domain.services.roles import AmendRole, CreateRole, GetRole, ListRoles, RemoveRole
    from logoadmin.domain.services.sessions import (
        ListSessions,
        Refresh,
        RemoveSession,
        RemoveUserSessions,
        Revoke,
        SignIn,
        WhoAmI,
    )
    from logoadmin.domain.services.settings import AmendSettings, GetSettings
    from logoadmin.domain.services.users import (
        AmendUser,
        CreateUser,
        FindUser,
        GetUser,
        ListUsers,
        RemoveAvatar,
        RemoveUser,
        SetPassword,
    )
    from logoadmin.embedding import asgi, connect
    from logoadmin.settings import Settings

__all__ = [
    "ANONYMOUS",
    "OWNER",
    "AcceptLogoPins",
    "AcceptThemePins",
    "AffectedUser",
    "AmendAuthor",
    "AmendLogo",
    "AmendRole",
    "AmendSettings",
    "AmendTheme",
    "AmendUser",
    "Anonymous",
    "ApplyChanges",
    "Author",
    "BadLine",
    "BlockLogo",
    "BlockTheme",
    "Blocked",
    "BulkChange",
    "Caller",
    "Cause",
    "Change",
    "ChangedImport",
    "CheckLogoPins",
    "CheckThemePins",
    "Conflict",
    "CreateAuthor",
    "CreateKey",
    "CreateLogo",
    "CreateRole",
    "CreateTheme",
    "CreateUser",
    "DuplicateEntry",
    "DuplicateUpdate",
    "EndedSession",
    "ExportRecords",
    "FindUser",
    "GetAuthor",
    "GetLogo",
    "GetLogoCss",
    "GetLogoPins",
    "GetPreferences",
    "GetRole",
    "GetSettings",
    "GetTheme",
    "GetThemeCss",
    "GetThemePins",
    "GetUser",
    "ImportRecords",
    "Imported",
    "ImportedCounts",
    "InvalidInput",
    "InvalidLines",
    "InvalidToken",
    "KeyHolder",
    "Kind",
    "LeftOut",
    "LinkLogoAuthor",
    "LinkThemeAuthor",
    "ListAuthorLogos",
    "ListAuthorThemes",
    "ListAuthors",
    "ListChanges",
    "ListKeys",
    "ListLogoAuthors",
    "ListLogos",
    "ListRoles",
    "ListSessions",
    "ListThemeAuthors",
    "ListThemes",
    "ListUsers",
    "ListedSession",
    "Listing",
    "Logo",
    "LogoAdmin",
    "LogoAdminError",
    "LogoAuthor",
    "Me",
    "NewServiceKey",
    "NotAuthenticated",
    "NotFound",
    "NotModified",
    "NotPermitted",
    "Outdated",
    "OutgoingError",
    "Owner",
    "PinnedImport",
    "Policy",
    "Problem",
    "Publication",
    "PublicationStatus",
    "Refresh",
    "RemoveAuthor",
    "RemoveAvatar",
    "RemoveKey",
    "RemoveLogo",
    "RemoveRole",
    "RemoveSession",
    "RemoveTheme",
    "RemoveUser",
    "RemoveUserSessions",
    "RemovedAuthor",
    "RemovedAvatar",
    "RemovedLogo",
    "RemovedLogoAuthor",
    "RemovedRole",
    "RemovedServiceKey",
    "RemovedSession",
    "RemovedTheme",
    "RemovedThemeAuthor",
    "RemovedUser",
    "RemovedUserSessions",
    "Revert",
    "RevertRequest",
    "Revoke",
    "Risk",
    "Role",
    "RoleEffect",
    "SchemaMismatch",
    "Scope",
    "ServiceKey",
    "SetPassword",
    "SetPreferences",
    "Settings",
    "SettingsError",
    "SharedSettings",
    "ShowPublication",
    "SignIn",
    "SignInRefused",
    "SignedIn",
    "StartError",
    "StorageUnavailable",
    "TablesMissing",
    "Theme",
    "ThemeAuthor",
    "Tokens",
    "TooManyChanges",
    "TooManySignIns",
    "UnlinkLogoAuthor",
    "UnlinkThemeAuthor",
    "User",
    "Verdict",
    "WhoAmI",
    "asgi",
    "connect",
    "metrics",
]

# Where the names above live, those first that are quick to load.
_HOMES: Final = (
    "embedding",
    "domain.model.access",
    "domain.model.errors",
    "domain.model.causes",
    "domain.model.lists",
    "domain.logo_admin",
    "domain.model.css",
    "domain.model.effects",
    "domain.model.pins",
    "domain.model.publication",
    "domain.model.records",
    "domain.model.sessions",
    "domain.services.artworks",
    "domain.services.authors",
    "domain.services.bulk",
    "domain.services.changes",
    "domain.services.keys",
    "domain.services.pins",
    "domain.services.preferences",
    "domain.services.publication",
    "domain.services.roles",
    "domain.services.sessions",
    "domain.services.settings",
    "domain.services.import_export",
    "domain.services.users",
    "settings",
)


def __getattr__(name: str) -> Any:
    if name in __all__:
        for home in _HOMES:
            module = import_module(f"{__name__}.{home}")
            if hasattr(module, name):
                globals()[name] = getattr(module, name)
                return globals()[name]
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

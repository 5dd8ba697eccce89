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
    from collections.abc import Collection

    from starlette.types import ASGIApp

    from logoadmin.domain.logo_admin import LogoAdmin
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
        Problem,
        SchemaMismatch,
        SettingsError,
        SignInRefused,
        StartError,
        StorageUnavailable,
        TablesMissing,
        TooManySignIns,
    )
    from logoadmin.domain.model.lists import Listing
    from logoadmin.domain.model.records import (
        Author,
        Change,
        EndedSession,
        Kind,
        Logo,
        LogoAuthor,
        Me,
        NewServiceKey,
        RemovedAuthor,
        RemovedAvatar,
        RemovedLogo,
        RemovedLogoAuthor,
        RemovedRole,
        RemovedServiceKey,
        RemovedTheme,
        RemovedThemeAuthor,
        RemovedUser,
        Role,
        ServiceKey,
        Theme,
        ThemeAuthor,
        Tokens,
        User,
    )
    from logoadmin.domain.services.artworks import (
        AmendLogo,
        AmendTheme,
        CreateLogo,
        CreateTheme,
        GetLogo,
        GetTheme,
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
    from logoadmin.domain.services.changes import ListChanges, Revert
    from logoadmin.domain.services.import_export import ExportRecords, Imported, ImportedCounts, ImportRecords
    from logoadmin.domain.services.keys import CreateKey, ListKeys, RemoveKey
    from logoadmin.domain.services.roles import AmendRole, CreateRole, GetRole, ListRoles, RemoveRole
    from logoadmin.domain.services.sessions import Refresh, Revoke, SignIn, WhoAmI
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
    from logoadmin.settings import Settings

__all__ = [
    "ANONYMOUS",
    "OWNER",
    "AmendAuthor",
    "AmendLogo",
    "AmendRole",
    "AmendTheme",
    "AmendUser",
    "Anonymous",
    "Author",
    "BadLine",
    "Caller",
    "Cause",
    "Change",
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
    "GetRole",
    "GetTheme",
    "GetUser",
    "ImportRecords",
    "Imported",
    "ImportedCounts",
    "InvalidInput",
    "InvalidLines",
    "InvalidToken",
    "KeyHolder",
    "Kind",
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
    "ListThemeAuthors",
    "ListThemes",
    "ListUsers",
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
    "Owner",
    "Policy",
    "Problem",
    "Refresh",
    "RemoveAuthor",
    "RemoveAvatar",
    "RemoveKey",
    "RemoveLogo",
    "RemoveRole",
    "RemoveTheme",
    "RemoveUser",
    "RemovedAuthor",
    "RemovedAvatar",
    "RemovedLogo",
    "RemovedLogoAuthor",
    "RemovedRole",
    "RemovedServiceKey",
    "RemovedTheme",
    "RemovedThemeAuthor",
    "RemovedUser",
    "Revert",
    "Revoke",
    "Role",
    "SchemaMismatch",
    "Scope",
    "ServiceKey",
    "SetPassword",
    "Settings",
    "SettingsError",
    "SignIn",
    "SignInRefused",
    "SignedIn",
    "StartError",
    "StorageUnavailable",
    "TablesMissing",
    "Theme",
    "ThemeAuthor",
    "Tokens",
    "TooManySignIns",
    "UnlinkLogoAuthor",
    "UnlinkThemeAuthor",
    "User",
    "WhoAmI",
    "asgi",
    "connect",
]

# Where the names above live, those first that are quick to load.
_HOMES: Final = (
    "domain.model.access",
    "domain.model.errors",
    "domain.model.causes",
    "domain.model.lists",
    "domain.logo_admin",
    "domain.model.records",
    "domain.services.artworks",
    "domain.services.authors",
    "domain.services.changes",
    "domain.services.keys",
    "domain.services.roles",
    "domain.services.sessions",
    "domain.services.import_export",
    "domain.services.users",
    "settings",
)


def connect(
    database: str = "memory:",
    *,
    access: str = "open",
    admin_password: str | None = None,
    token_key: str | None = None,
) -> "LogoAdmin":
    """Open a gallery (contract H2, H3, H6). Nothing but the arguments is read, no environment and no file.

    An embedded database that is empty gets its tables, its roles and its first administrator, whose password, if
    none is given, is made up and found in ``admin_password`` of the result. For a server's database, run
    ``logoadmin init`` first.

    Args:
        database: ``sqlite:///file``, ``mysql+pymysql://user:password@host:port/name`` or ``memory:``.
        access: ``open`` or ``guarded`` (contract B1); it rules callers from outside, see :func:`asgi`.
        admin_password: of the first administrator.
        token_key: signs access tokens, at least 32 bytes; more may follow after white space, which are accepted, too.
            Otherwise there are keys in the database.

    Returns:
        The gallery, whose methods are the use cases. Close it, or use it as a context manager.

    Raises:
        SettingsError: the arguments cannot be used.
        StartError: the database cannot be made, or what is named is none; SchemaMismatch: it was made by another
            version.
        StorageUnavailable: the database is out of reach.
    """
    from logoadmin.bootstrap import open_gallery
    from logoadmin.settings import settings_of

    return open_gallery(
        settings_of(database=database, access=access, admin_password=admin_password, token_key=token_key)
    )


def asgi(
    gallery: "LogoAdmin",
    *,
    origins: "Collection[str]" = (),
    cache_seconds: int = 60,
    hosts: "Collection[str] | None" = None,
) -> "ASGIApp":
    """Return an ASGI application that serves a gallery, by itself or mounted under a prefix in another application.

    The gallery stays the caller's, to be closed when the application has ended.

    Args:
        gallery: what is served.
        origins: the origins whose pages may use all of it, such as ``https://admin.example``; those of others may
            only read what is public (contract F2).
        cache_seconds: how long browsers and proxies may keep public reads without asking again.
        hosts: the names that requests may have in ``Host``, beside those of loopback, such as ``gallery.example``;
            without it, whoever embeds the application judges that (contract A22).

    Raises:
        SettingsError: origins or hosts are one text instead of several.
    """
    from logoadmin.entrypoints.http_api.app import http_application

    return http_application(gallery, origins=origins, cache_seconds=cache_seconds, hosts=hosts)


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

"""Administration of a gallery of site logos and themes (contract H6).

:func:`connect` opens a gallery on a database or in memory, and :func:`asgi` makes a web application of it::

    import logoadmin

    with logoadmin.connect("memory:") as gallery:
        ann = gallery.authors.create(logoadmin.CreateAuthor(user_id=7, username="Ann"))

Importing this loads neither database nor web code; the names below come from where they live when they are used.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from logoadmin.domain.access import (
        ANONYMOUS as ANONYMOUS,
    )
    from logoadmin.domain.access import (
        OWNER as OWNER,
    )
    from logoadmin.domain.access import (
        Anonymous as Anonymous,
    )
    from logoadmin.domain.access import (
        Caller as Caller,
    )
    from logoadmin.domain.access import (
        Owner as Owner,
    )
    from logoadmin.domain.access import (
        Policy as Policy,
    )
    from logoadmin.domain.access import (
        Scope as Scope,
    )
    from logoadmin.domain.access import (
        SignedIn as SignedIn,
    )
    from logoadmin.domain.errors import (
        BadLine as BadLine,
    )
    from logoadmin.domain.errors import (
        Conflict as Conflict,
    )
    from logoadmin.domain.errors import (
        DuplicateEntry as DuplicateEntry,
    )
    from logoadmin.domain.errors import (
        DuplicateUpdate as DuplicateUpdate,
    )
    from logoadmin.domain.errors import (
        InvalidInput as InvalidInput,
    )
    from logoadmin.domain.errors import (
        InvalidLines as InvalidLines,
    )
    from logoadmin.domain.errors import (
        InvalidToken as InvalidToken,
    )
    from logoadmin.domain.errors import (
        LogoAdminError as LogoAdminError,
    )
    from logoadmin.domain.errors import (
        NotAuthenticated as NotAuthenticated,
    )
    from logoadmin.domain.errors import (
        NotFound as NotFound,
    )
    from logoadmin.domain.errors import (
        NotPermitted as NotPermitted,
    )
    from logoadmin.domain.errors import (
        Problem as Problem,
    )
    from logoadmin.domain.errors import (
        SchemaMismatch as SchemaMismatch,
    )
    from logoadmin.domain.errors import (
        SettingsError as SettingsError,
    )
    from logoadmin.domain.errors import (
        SignInRefused as SignInRefused,
    )
    from logoadmin.domain.errors import (
        StorageUnavailable as StorageUnavailable,
    )
    from logoadmin.domain.errors import (
        TooManySignIns as TooManySignIns,
    )
    from logoadmin.domain.lists import (
        Listing as Listing,
    )
    from logoadmin.domain.logo_admin import (
        LogoAdmin as LogoAdmin,
    )
    from logoadmin.domain.records import (
        Author as Author,
    )
    from logoadmin.domain.records import (
        Kind as Kind,
    )
    from logoadmin.domain.records import (
        Logo as Logo,
    )
    from logoadmin.domain.records import (
        LogoAuthor as LogoAuthor,
    )
    from logoadmin.domain.records import (
        RemovedAuthor as RemovedAuthor,
    )
    from logoadmin.domain.records import (
        RemovedAvatar as RemovedAvatar,
    )
    from logoadmin.domain.records import (
        RemovedLogo as RemovedLogo,
    )
    from logoadmin.domain.records import (
        RemovedLogoAuthor as RemovedLogoAuthor,
    )
    from logoadmin.domain.records import (
        RemovedRole as RemovedRole,
    )
    from logoadmin.domain.records import (
        RemovedTheme as RemovedTheme,
    )
    from logoadmin.domain.records import (
        RemovedThemeAuthor as RemovedThemeAuthor,
    )
    from logoadmin.domain.records import (
        RemovedUser as RemovedUser,
    )
    from logoadmin.domain.records import (
        Role as Role,
    )
    from logoadmin.domain.records import (
        Theme as Theme,
    )
    from logoadmin.domain.records import (
        ThemeAuthor as ThemeAuthor,
    )
    from logoadmin.domain.records import (
        Tokens as Tokens,
    )
    from logoadmin.domain.records import (
        User as User,
    )
    from logoadmin.domain.services.authors import (
        AmendAuthor as AmendAuthor,
    )
    from logoadmin.domain.services.authors import (
        CreateAuthor as CreateAuthor,
    )
    from logoadmin.domain.services.authors import (
        GetAuthor as GetAuthor,
    )
    from logoadmin.domain.services.authors import (
        ListAuthorLogos as ListAuthorLogos,
    )
    from logoadmin.domain.services.authors import (
        ListAuthors as ListAuthors,
    )
    from logoadmin.domain.services.authors import (
        ListAuthorThemes as ListAuthorThemes,
    )
    from logoadmin.domain.services.authors import (
        RemoveAuthor as RemoveAuthor,
    )
    from logoadmin.domain.services.logos import (
        AmendLogo as AmendLogo,
    )
    from logoadmin.domain.services.logos import (
        CreateLogo as CreateLogo,
    )
    from logoadmin.domain.services.logos import (
        GetLogo as GetLogo,
    )
    from logoadmin.domain.services.logos import (
        LinkLogoAuthor as LinkLogoAuthor,
    )
    from logoadmin.domain.services.logos import (
        ListLogoAuthors as ListLogoAuthors,
    )
    from logoadmin.domain.services.logos import (
        ListLogos as ListLogos,
    )
    from logoadmin.domain.services.logos import (
        RemoveLogo as RemoveLogo,
    )
    from logoadmin.domain.services.logos import (
        UnlinkLogoAuthor as UnlinkLogoAuthor,
    )
    from logoadmin.domain.services.roles import (
        AmendRole as AmendRole,
    )
    from logoadmin.domain.services.roles import (
        CreateRole as CreateRole,
    )
    from logoadmin.domain.services.roles import (
        GetRole as GetRole,
    )
    from logoadmin.domain.services.roles import (
        ListRoles as ListRoles,
    )
    from logoadmin.domain.services.roles import (
        RemoveRole as RemoveRole,
    )
    from logoadmin.domain.services.sessions import (
        Refresh as Refresh,
    )
    from logoadmin.domain.services.sessions import (
        SignIn as SignIn,
    )
    from logoadmin.domain.services.themes import (
        AmendTheme as AmendTheme,
    )
    from logoadmin.domain.services.themes import (
        CreateTheme as CreateTheme,
    )
    from logoadmin.domain.services.themes import (
        GetTheme as GetTheme,
    )
    from logoadmin.domain.services.themes import (
        LinkThemeAuthor as LinkThemeAuthor,
    )
    from logoadmin.domain.services.themes import (
        ListThemeAuthors as ListThemeAuthors,
    )
    from logoadmin.domain.services.themes import (
        ListThemes as ListThemes,
    )
    from logoadmin.domain.services.themes import (
        RemoveTheme as RemoveTheme,
    )
    from logoadmin.domain.services.themes import (
        UnlinkThemeAuthor as UnlinkThemeAuthor,
    )
    from logoadmin.domain.services.transfer import (
        ExportLines as ExportLines,
    )
    from logoadmin.domain.services.transfer import (
        Imported as Imported,
    )
    from logoadmin.domain.services.transfer import (
        ImportLines as ImportLines,
    )
    from logoadmin.domain.services.users import (
        AmendUser as AmendUser,
    )
    from logoadmin.domain.services.users import (
        CreateUser as CreateUser,
    )
    from logoadmin.domain.services.users import (
        GetUser as GetUser,
    )
    from logoadmin.domain.services.users import (
        ListUsers as ListUsers,
    )
    from logoadmin.domain.services.users import (
        RemoveAvatar as RemoveAvatar,
    )
    from logoadmin.domain.services.users import (
        RemoveUser as RemoveUser,
    )
    from logoadmin.domain.services.users import (
        SetPassword as SetPassword,
    )
    from logoadmin.settings import (
        Settings as Settings,
    )

_HOMES = {
    "domain.access": (
        "ANONYMOUS",
        "OWNER",
        "Anonymous",
        "Caller",
        "Owner",
        "Policy",
        "Scope",
        "SignedIn",
    ),
    "domain.errors": (
        "BadLine",
        "Conflict",
        "DuplicateEntry",
        "DuplicateUpdate",
        "InvalidInput",
        "InvalidLines",
        "InvalidToken",
        "LogoAdminError",
        "NotAuthenticated",
        "NotFound",
        "NotPermitted",
        "Problem",
        "SchemaMismatch",
        "SettingsError",
        "SignInRefused",
        "StorageUnavailable",
        "TooManySignIns",
    ),
    "domain.lists": ("Listing",),
    "domain.logo_admin": ("LogoAdmin",),
    "domain.records": (
        "Author",
        "Kind",
        "Logo",
        "LogoAuthor",
        "RemovedAuthor",
        "RemovedAvatar",
        "RemovedLogo",
        "RemovedLogoAuthor",
        "RemovedRole",
        "RemovedTheme",
        "RemovedThemeAuthor",
        "RemovedUser",
        "Role",
        "Theme",
        "ThemeAuthor",
        "Tokens",
        "User",
    ),
    "domain.services.authors": (
        "AmendAuthor",
        "CreateAuthor",
        "GetAuthor",
        "ListAuthorLogos",
        "ListAuthors",
        "ListAuthorThemes",
        "RemoveAuthor",
    ),
    "domain.services.logos": (
        "AmendLogo",
        "CreateLogo",
        "GetLogo",
        "LinkLogoAuthor",
        "ListLogoAuthors",
        "ListLogos",
        "RemoveLogo",
        "UnlinkLogoAuthor",
    ),
    "domain.services.roles": (
        "AmendRole",
        "CreateRole",
        "GetRole",
        "ListRoles",
        "RemoveRole",
    ),
    "domain.services.sessions": (
        "Refresh",
        "SignIn",
    ),
    "domain.services.themes": (
        "AmendTheme",
        "CreateTheme",
        "GetTheme",
        "LinkThemeAuthor",
        "ListThemeAuthors",
        "ListThemes",
        "RemoveTheme",
        "UnlinkThemeAuthor",
    ),
    "domain.services.transfer": (
        "ExportLines",
        "Imported",
        "ImportLines",
    ),
    "domain.services.users": (
        "AmendUser",
        "CreateUser",
        "GetUser",
        "ListUsers",
        "RemoveAvatar",
        "RemoveUser",
        "SetPassword",
    ),
    "settings": ("Settings",),
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names}

__all__ = ["asgi", "connect", *_HOME_OF]


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
        token_key: signs access tokens, at least 32 bytes; one is kept in the database otherwise.

    Returns:
        The gallery, whose methods are the use cases. Close it, or use it as a context manager.

    Raises:
        SettingsError: the arguments cannot be used.
        SchemaMismatch: the database was made by another version.
        StorageUnavailable: the database is out of reach.
    """
    from logoadmin.bootstrap import open_gallery
    from logoadmin.settings import settings_of

    return open_gallery(
        settings_of(database=database, access=access, admin_password=admin_password, token_key=token_key)
    )


def asgi(gallery: "LogoAdmin") -> "ASGIApp":
    """Return an ASGI application that serves a gallery, by itself or mounted under a prefix in another application.

    The gallery stays the caller's, to be closed when the application has ended.
    """
    from logoadmin.entrypoints.http_api.app import http_application

    return http_application(gallery)


def __getattr__(name: str) -> Any:
    if name not in _HOME_OF:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOME_OF[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})

"""Administration of a gallery of site logos and themes (contract H6).

:func:`connect` opens a gallery in a database or in memory, and :func:`asgi` makes a web application of it::

    import logoadmin

    with logoadmin.connect("memory:") as gallery:
        ann = gallery.authors.create(logoadmin.CreateAuthor(user_id=7, username="Ann"))

Importing this loads neither database nor web code: the names in ``__init__.pyi`` are loaded on first use. ``__all__``
has the names that most programs need.
"""

from functools import lru_cache
from typing import Any

__all__ = (
    # Opening a gallery, and its lists
    *("LogoAdmin", "asgi", "connect", "metrics", "Listing", "Settings"),
    # Callers
    *("ANONYMOUS", "OWNER", "ActingAs", "Anonymous", "Caller", "Owner", "Policy", "Scope", "SignedIn"),
    # Errors
    *("Conflict", "DuplicateEntry", "DuplicateUpdate", "InvalidInput", "InvalidToken", "LogoAdminError"),
    *("NotAuthenticated", "NotFound", "NotModified", "NotPermitted", "Outdated", "Problem", "SchemaMismatch"),
    *("SettingsError", "SignInRefused", "StartError", "StorageUnavailable", "TablesMissing"),
    # Records
    *("Author", "Change", "Logo", "LogoAuthor", "Role", "Theme", "ThemeAuthor", "Tokens", "User"),
    # Commands
    *("AmendAuthor", "CreateAuthor", "GetAuthor", "ListAuthors", "RemoveAuthor"),
    *("AmendLogo", "CreateLogo", "GetLogo", "LinkLogoAuthor", "ListLogoAuthors", "ListLogos", "RemoveLogo"),
    *("AmendTheme", "CreateTheme", "GetTheme", "LinkThemeAuthor", "ListThemes", "RemoveTheme", "UnlinkThemeAuthor"),
    *("AmendRole", "CreateRole", "GetRole", "ListRoles"),
    *("AmendUser", "CreateUser", "GetUser", "ListUsers", "RemoveAvatar", "RemoveUser"),
    *("ListChanges", "Revert", "SignIn"),
)


@lru_cache(maxsize=1)
def _modules() -> dict[str, str]:
    """Return the module of each name, from the imports in ``__init__.pyi``."""
    import ast

    with open(f"{__file__.removesuffix('c')}i", "rb") as stub:
        imports = [node for node in ast.parse(stub.read()).body if isinstance(node, ast.ImportFrom)]
    return {alias.name: f"{__name__}.{node.module}" for node in imports for alias in node.names}


def __getattr__(name: str) -> Any:
    if name == "__version__":
        from importlib.metadata import version

        return version(__name__)
    if name not in _modules():
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    globals()[name] = found = getattr(import_module(_modules()[name]), name)
    return found


def __dir__() -> list[str]:
    return [*_modules()]

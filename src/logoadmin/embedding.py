"""A gallery inside another program: opening it, and making a web application of it (contract H6).

Nothing here is loaded before it is used: who opens a gallery in memory needs neither database nor web code.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.types import ASGIApp

    from logoadmin.domain.logo_admin import LogoAdmin


def connect(
    database: str = "memory:", *, access: str = "open", admin_password: str | None = None, token_key: str | None = None
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
        StartError: the database cannot be made, or what is named is none; SchemaMismatch: it is of another version.
        StorageUnavailable: the database is out of reach.
    """
    from logoadmin.bootstrap import open_gallery
    from logoadmin.settings import settings_of

    return open_gallery(
        settings_of(database=database, access=access, admin_password=admin_password, token_key=token_key), counted=True
    )


def asgi(
    gallery: "LogoAdmin",
    *,
    origins: "Collection[str]" = (),
    cache_seconds: int = 60,
    hosts: "Collection[str] | None" = None,
    console: bool = True,
    picture_hosts: "Collection[str]" = (),
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
        console: whether there is the page for people at ``/console/`` (contract J1).
        picture_hosts: the hosts from which previews of CSS there may get pictures, such as ``i.example``.

    Raises:
        SettingsError: one of these would be refused as a setting, or is one text instead of several.
    """
    from logoadmin.entrypoints.app import web_application
    from logoadmin.settings import settings_of

    several = _several(origins=origins, hosts=hosts, picture_hosts=picture_hosts)
    settings = settings_of(cache_seconds=cache_seconds, **several)
    return web_application(
        gallery,
        origins=settings.origins,
        cache_seconds=settings.cache_seconds,
        hosts=None if hosts is None else settings.hosts,
        console=console,
        picture_hosts=settings.picture_hosts,
    )


def _several(**given: "Collection[str] | None") -> dict[str, tuple[str, ...]]:
    """Return texts, those that are given; of one text alone, each letter would be taken for one."""
    from logoadmin.domain.model.errors import SettingsError

    for name, texts in given.items():
        if isinstance(texts, str):
            raise SettingsError(f"{name} should be a list of texts, such as [{texts!r}]")
    return {name: tuple(texts) for name, texts in given.items() if texts is not None}

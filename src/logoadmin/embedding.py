"""Embedding a gallery in another program: ``connect`` and ``asgi`` (contract H6).

Imports are inside the functions, so that a gallery in memory loads neither database nor web code.
"""

from typing import TYPE_CHECKING, Final, TypedDict, Unpack

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping

    from starlette.types import ASGIApp

    from logoadmin.domain.identity.sign_in_rules import SecondFactorPolicy
    from logoadmin.domain.logo_admin import LogoAdmin


# Limits the time to open a gallery with many expired rows.
_MOST_SWEEPS: Final = 20


class Options(TypedDict, total=False):
    """The other settings that :func:`connect` accepts by name (contract O, Q2, R6).

    See :class:`~logoadmin.settings.Settings`.
    """

    public_url: str | None
    password_sign_in: bool
    min_password_length: int
    second_factor: "SecondFactorPolicy"
    factor_key: str | None
    event_days: int
    oidc_issuer: str | None
    oidc_client_id: str | None
    oidc_client_secret: str | None
    oidc_roles: "Collection[str] | Mapping[str, str | int]"
    oidc_default_role: str | int | None
    gallery_page: bool
    gallery_title: str
    gallery_home: str
    gallery_submit: bool | str
    gallery_report: str
    notify_urls: "str | Collection[str] | None"


def connect(
    database: str = "memory:",
    *,
    access: str | None = None,
    admin_password: str | None = None,
    token_key: str | None = None,
    create: bool = True,
    gallery_dir: str | None = None,
    outgoing_hosts: "Collection[str]" = (),
    **options: Unpack[Options],
) -> "LogoAdmin":
    """Open a gallery (contract H2, H3, H6). Only the arguments are read, no environment variables or files.

    An empty embedded database gets its tables, its roles and its first administrator. If no password is given, one is
    generated, and ``admin_password`` of the result has it. For a database server, run ``logoadmin init`` first. Close
    the gallery at the end, or use it as a context manager.

    Args:
        database: ``sqlite:///file``, ``mysql+pymysql://user:password@host:port/name`` or ``memory:``.
        access: ``open``, the default, or ``guarded`` (contract B1); :func:`asgi` requires an explicit choice.
        admin_password: the password of the first administrator.
        token_key: the key for access tokens, at least 32 bytes, see the setting; by default, keys in the database.
        create: whether a missing SQLite file may be created; set False once there is a gallery, to get an error.
        gallery_dir: the folder into which :func:`asgi` publishes; by default, one next to the database (contract L1).
        outgoing_hosts: non-public hosts, by name or address, that outgoing requests may reach (contract L8).
        options: other settings by name, such as ``second_factor="required"`` (contract O, Q2, Q3).

    Raises:
        SettingsError, TypeError: the arguments cannot be used. StorageUnavailable: the database is out of reach.
        StartError: it cannot be created, or is not a database; SchemaMismatch: it is of another version.
    """
    from logoadmin import bootstrap, settings

    if unknown := ", ".join(sorted(options.keys() - Options.__annotations__.keys())):
        raise TypeError(f"connect() got unexpected arguments: {unknown}")
    if not isinstance(database, str):  # None, as from an unset variable, would mean the default of the service
        raise TypeError("connect() needs the database as a text, such as sqlite:///gallery.db")
    values = {"database": database, "access": access, "admin_password": admin_password, "token_key": token_key}
    more = {"create": create, "gallery_dir": gallery_dir, **options, **_tuples(outgoing_hosts=outgoing_hosts)}
    return _swept(bootstrap.open_gallery(settings.settings_of(**values, **more), counted=True))


def asgi(
    gallery: "LogoAdmin",
    *,
    origins: "Collection[str]" = (),
    cache_seconds: int = 60,
    hosts: "Collection[str] | None" = None,
    console: bool = True,
    picture_hosts: "Collection[str]" = (),
    published: bool = True,
) -> "ASGIApp":
    """Return an ASGI application that serves a gallery, alone or mounted; the caller closes the gallery at the end.

    Args:
        gallery: the gallery, opened with a choice of ``access``.
        origins: the origins whose pages may use the whole interface, such as ``https://admin.example`` (contract F2).
        cache_seconds: how long browsers and proxies may cache public reads.
        hosts: the names that requests may have in ``Host`` besides loopback and the host of the gallery's public URL,
            such as ``gallery.example``; None if the embedding program checks them (contract A22).
        console, published: whether to serve the console at ``/console/``, and the published gallery at ``/gallery/``.
        picture_hosts: the hosts from which previews of CSS in the console may load pictures, such as ``i.example``.

    Raises:
        SettingsError, TypeError: an argument cannot be used.
    """
    from logoadmin.entrypoints.app import web_application
    from logoadmin.settings import settings_of

    _require_access(gallery)
    lists = _tuples(origins=origins, hosts=hosts, picture_hosts=picture_hosts)
    settings = settings_of(cache_seconds=cache_seconds, console=console, gallery=published, **lists)
    return web_application(gallery, settings, hosts=None if hosts is None else settings.hosts)


def _require_access(gallery: "LogoAdmin") -> None:
    """Reject a gallery that was opened without an explicit access policy."""
    from logoadmin.domain.kernel.errors import SettingsError
    from logoadmin.domain.logo_admin import LogoAdmin

    if not isinstance(gallery, LogoAdmin):
        raise TypeError(f"asgi() needs a gallery that connect() returned, not {type(gallery).__name__}")
    if not gallery.is_access_chosen:
        raise SettingsError('Choose who may do what before a gallery is served: connect(access="guarded") or "open"')


def _swept(gallery: "LogoAdmin") -> "LogoAdmin":
    """Remove expired rows of a gallery, and return it."""
    for _ in range(_MOST_SWEEPS):
        if gallery.sweep() != "more":
            break
    return gallery


def _tuples(**lists: "Collection[str] | None") -> dict[str, tuple[str, ...]]:
    """Return lists of texts; reject a single text, whose letters would count as texts."""
    from logoadmin.domain.kernel.errors import SettingsError

    for name, texts in lists.items():
        if isinstance(texts, str):
            raise SettingsError(f"{name} should be a list of texts, such as [{texts!r}]")
    return {name: tuple(texts) for name, texts in lists.items() if texts is not None}

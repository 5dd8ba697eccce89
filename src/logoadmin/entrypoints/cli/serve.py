"""Serving over HTTP: the command, and who may be served (contract H1, H3, B2)."""

import functools
import signal
from types import ModuleType
from typing import TYPE_CHECKING, Any

import click

from logoadmin.domain.model.access import Policy, is_loopback
from logoadmin.domain.model.errors import SettingsError, StartError
from logoadmin.domain.model.limits import MAX_PORT, MAX_WORKERS
from logoadmin.entrypoints.cli.gallery import show_password

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.settings import Settings

access_option = click.option(
    "--access", type=click.Choice([policy.value for policy in Policy]), help="Who needs a token.  [default: open]"
)


@click.command()
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, MAX_PORT), help="The port to listen on, 0 for any.  [default: 8000]")
@click.option(
    "--database",
    metavar="URL",
    help="sqlite:///FILE, mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME, or memory: to try things out.  "
    "[default: sqlite:///logoadmin.db]",
)
@access_option
@click.option(
    "--hosts",
    metavar="NAMES",
    help="Names that requests may be for, beside localhost: separated by commas, or * for any.  [default: none]",
)
@click.option("--workers", type=click.IntRange(1, MAX_WORKERS), help="How many processes answer.  [default: 1]")
@click.option(
    "--trusted-proxies",
    metavar="ADDRESSES",
    help="Proxies whose X-Forwarded-For is believed: addresses and networks, separated by commas.  [default: none]",
)
@click.option("--root-path", metavar="PREFIX", help="What a proxy takes off the paths, as /gallery.  [default: none]")
@click.option(
    "--log-level",
    type=click.Choice(["debug", "info", "warning", "error"]),
    help="What is logged; info has a line for each request.  [default: warning]",
)
def serve(**flags: Any) -> None:
    """Serve the gallery over HTTP.

    An embedded database that is empty gets its tables and its first administrator.
    """
    _ignore_sighup()
    from logoadmin.bootstrap import open_gallery
    from logoadmin.settings import load_settings

    server = _server()
    settings = load_settings(**flags)
    _check(settings)
    # The address first: what is made in a new database is made for a service that runs.
    with server.listen(settings.host, settings.port) as listener, open_gallery(settings) as gallery:
        show_password(gallery.admin_password)
        application = functools.partial(_application, settings, gallery if settings.workers == 1 else None)
        server.serve(
            application,
            listener,
            workers=settings.workers,
            log_level=settings.log_level,
            listening=_show_address,
            trusted_proxies=settings.trusted_proxies,
            root_path=settings.root_path,
        )


def _ignore_sighup() -> None:
    """Ignore SIGHUP until the server acts on it: a service that still starts has nothing to replace (contract K5)."""
    if hasattr(signal, "SIGHUP"):  # as far as the system has it
        signal.signal(signal.SIGHUP, signal.SIG_IGN)


def _server() -> ModuleType:
    """Return the server, whose packages need not be there."""
    try:
        from logoadmin.entrypoints import server
    except ModuleNotFoundError as error:
        raise StartError(f"Serving takes {error.name}: run pip install 'logoadmin[server]'") from error
    return server


def _check(settings: "Settings") -> None:
    """Refuse to let others in before somebody has said who may do what, and to keep records in several memories."""
    from logoadmin.bootstrap import MEMORY

    if settings.access is None and not is_loopback(settings.host):
        raise SettingsError(
            f"Listening on {settings.host} lets others in: say who may do what with --access guarded, "
            "or with --access open if everybody who reaches it may change the gallery"
        )
    if settings.access is Policy.OPEN and not settings.hosts and not is_loopback(settings.host):
        raise SettingsError(
            f"Listening on {settings.host} under open, the service must know its names, or web pages elsewhere could "
            "lead here and change the gallery: give them with --hosts gallery.example, or --hosts '*' for any"
        )
    if settings.workers > 1 and settings.database.get_secret_value() == MEMORY:
        raise SettingsError("Memory cannot be shared between processes: use --workers 1, or a database")


def _application(settings: "Settings", gallery: "LogoAdmin | None") -> "ASGIApp":
    """Make the application of this process; one of several opens the gallery for itself."""
    from logoadmin.bootstrap import open_gallery
    from logoadmin.entrypoints.http_api.app import http_application

    # With a token for everything, no page of another site can do harm under whatever name (contract A22).
    any_name = settings.access is Policy.GUARDED and not settings.hosts
    return http_application(
        gallery or open_gallery(settings, create="never"),
        origins=settings.origins,
        cache_seconds=settings.cache_seconds,
        hosts=None if any_name else settings.hosts,
    )


def _show_address(url: str) -> None:
    click.echo(f"logoadmin listens on {url}\nRead and try it at {url}/docs")

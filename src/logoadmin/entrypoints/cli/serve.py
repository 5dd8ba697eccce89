"""Serving over HTTP: the command, and who may be served (contract H1, H3, B2)."""

import functools
from typing import TYPE_CHECKING, Any

import click

from logoadmin.domain.model.access import Policy, is_loopback
from logoadmin.domain.model.errors import SettingsError
from logoadmin.entrypoints.cli.gallery import show_password

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from logoadmin.settings import Settings

access_option = click.option(
    "--access", type=click.Choice([policy.value for policy in Policy]), help="Who needs a token.  [default: open]"
)


@click.command()
@click.option("--host", help="The address to listen on.  [default: 127.0.0.1]")
@click.option("--port", type=click.IntRange(0, 65535), help="The port to listen on, 0 for any.  [default: 8000]")
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
@click.option("--workers", type=click.IntRange(1, 64), help="How many processes answer.  [default: 1]")
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
    from logoadmin.bootstrap import open_gallery
    from logoadmin.entrypoints.http_api.app import http_application
    from logoadmin.entrypoints.server import listen
    from logoadmin.entrypoints.server import serve as run
    from logoadmin.settings import load_settings

    settings = load_settings(**flags)
    _check(settings)
    # The address first: what is made in a new database is made for a service that runs.
    with listen(settings.host, settings.port) as listener, open_gallery(settings) as gallery:
        show_password(gallery.admin_password)
        shared: dict[str, Any] = {
            "origins": settings.origins,
            "cache_seconds": settings.cache_seconds,
            # With a token for everything, no page of another site can do harm under whatever name (contract A22).
            "hosts": settings.hosts or (None if settings.access is Policy.GUARDED else ()),
        }
        several = functools.partial(_worker, settings, shared)
        factory = several if settings.workers > 1 else lambda: http_application(gallery, **shared)
        run(
            factory,
            listener,
            workers=settings.workers,
            log_level=settings.log_level,
            listening=lambda address: click.echo(f"logoadmin listens on {address}\nRead and try it at {address}/docs"),
            trusted_proxies=settings.trusted_proxies,
            root_path=settings.root_path,
        )


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


def _worker(settings: "Settings", shared: dict[str, Any]) -> "ASGIApp":
    """Make the application of one worker process."""
    from logoadmin.bootstrap import open_gallery
    from logoadmin.entrypoints.http_api.app import http_application

    return http_application(open_gallery(settings, create="never"), **shared)

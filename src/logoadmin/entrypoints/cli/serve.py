"""The commands ``serve`` (contract H1, H3, B2) and ``config`` (contract K4), which share their options."""

import json
import re
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from functools import partial, reduce
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

import click

from logoadmin.domain.kernel.access import MAX_PORT, Policy, is_loopback
from logoadmin.domain.kernel.errors import SettingsError, StartError
from logoadmin.entrypoints.cli.gallery import show_line, show_start
from logoadmin.extras import install_extra

if TYPE_CHECKING:
    from socket import socket

    from starlette.types import ASGIApp

    from logoadmin.domain.logo_admin import LogoAdmin
    from logoadmin.settings import Settings

# The listening addresses that can be reached as localhost.
_LOCALHOST: Final = ("127.0.0.1", "::1", "0.0.0.0", "::")  # noqa: S104 (compared, not listened on)

_HIDDEN: Final = "***"
_FILE: Final = re.compile(r"memory:|sqlite:///[^?]*")
# The last @ ends the password; if options contain an @, it may be one of the password, and everything is hidden.
_SERVER: Final = re.compile(r"(\w[\w+]*://)[^?]*@((?:[\w.-]+|\[[0-9A-Fa-f:.]+\])(?::\d+)?/[\w-]*)(\?[^@]*)?", re.ASCII)

# In the order of the help text.
_OPTIONS: Final = (
    click.option("--host", help="The address to listen on.  [default: 127.0.0.1]"),
    click.option("--port", type=click.IntRange(0, MAX_PORT), help="The port to listen on, 0 for any.  [default: 8000]"),
    click.option(
        "--database",
        metavar="URL",
        help="sqlite:///FILE, mysql+pymysql://USER:PASSWORD@HOST:PORT/NAME, or memory: for trials.  "
        "[default: sqlite:///logoadmin.db]",
    ),
    click.option(
        "--access",
        type=click.Choice([policy.value for policy in Policy]),
        help="Which callers need a token.  [default: open]",
    ),
    click.option(
        "--hosts",
        metavar="NAMES",
        help="Names of the service besides localhost, separated by commas, or * for any.  [default: none]",
    ),
    click.option("--workers", type=click.IntRange(1, 64), help="Number of worker processes.  [default: 1]"),
    click.option(
        "--trusted-proxies",
        metavar="ADDRESSES",
        help="Proxies whose X-Forwarded-For is trusted: addresses and networks, separated by commas.  [default: none]",
    ),
    click.option(
        "--root-path",
        metavar="PREFIX",
        help="Prefix that a proxy strips from paths, such as /gallery.  [default: none]",
    ),
    click.option(
        "--public-url",
        metavar="URL",
        help="URL that browsers open, such as https://gallery.example.  [default: http://localhost:PORT]",
    ),
    click.option(
        "--log-level",
        type=click.Choice(["debug", "info", "warning", "error"]),
        help="Lowest level to log; info logs each request.  [default: warning]",
    ),
)


def serve_options(command: Callable[..., None]) -> Callable[..., None]:
    """Add the options of serve to a command."""
    return reduce(lambda decorated, option: option(decorated), reversed(_OPTIONS), command)


@click.command()
@serve_options
@click.option("--demo", is_flag=True, help="Serve a demo gallery in memory.")
def serve(*, demo: bool, **flags: Any) -> None:
    """Serve the gallery over HTTP.

    An empty embedded database gets its tables and its first administrator. A socket passed by systemd replaces host
    and port.
    """
    in_terminal = _is_in_terminal()
    from logoadmin.bootstrap import open_gallery
    from logoadmin.settings import load_settings
    from logoadmin.starting import MEMORY

    server = load_server()
    settings = _settings_of_demo(flags) if demo else load_settings(**flags)
    inherited = server.socket_from_systemd()
    check_address(settings, inherited.getsockname()[0] if inherited else None)
    # The socket before the gallery, so that nothing is created for a service that cannot run.
    with ExitStack() as stack:
        listener = stack.enter_context(inherited or server.listen(settings.host, settings.port))
        address, port = listener.getsockname()[:2]
        settings = settings.model_copy(update={"port": port})  # systemd's, or the free port that was chosen
        metrics_at = None
        if settings.metrics_port is not None:
            metrics_at = stack.enter_context(_metrics_listener(server, settings.metrics_host, settings.metrics_port))
            stack.enter_context(server.shared_metrics())
        open_ = _open_demo if demo else open_gallery
        gallery = stack.enter_context(open_(settings, counted=metrics_at is not None))
        show_start(gallery, in_memory=settings.database.get_secret_value() == MEMORY)
        if metrics_at is not None:
            from logoadmin.domain.logo_admin import metrics

            stack.enter_context(server.metrics_served(metrics_at, partial(metrics, gallery), _metrics_hosts(settings)))
            click.echo(f"Metrics are at {server.url_of(metrics_at)}/metrics")
        server.serve(
            partial(_application, settings, gallery if settings.workers == 1 else None),
            listener,
            settings,
            listening=partial(_show_addresses, settings, address),
            in_terminal=in_terminal,
        )


def _open_demo(settings: "Settings", *, counted: bool) -> "LogoAdmin":
    """Open the demo, and print who can sign in (contract Q4)."""
    from logoadmin.demo import open_demo

    click.echo("Drawing the pictures of the demo, which takes a few seconds", err=True)
    gallery, passwords = open_demo(settings, counted=counted)
    click.echo("Nothing in this gallery is stored. An administrator, a moderator and a member can sign in:")
    for name, password in passwords.items():
        click.echo(f"  {name} with the password {password}")
    return gallery


def _settings_of_demo(flags: dict[str, Any]) -> "Settings":
    from logoadmin.demo import demo_settings
    from logoadmin.settings import load_settings

    if flags["database"] is not None:
        raise click.UsageError("--demo keeps everything in memory: leave out --database")
    return demo_settings(load_settings(**flags))


def _metrics_listener(server: ModuleType, host: str, port: int) -> "socket":
    """Listen for metrics; an error names the settings of metrics, not host and port."""
    try:
        listener: socket = server.listen(host, port)
    except StartError as error:
        raise StartError(f"metrics_host, metrics_port: {error.text}", error.cure) from None
    return listener


def _metrics_hosts(settings: "Settings") -> Sequence[str]:
    """Return the names under which metrics are served; without a check, any page could read them from loopback.

    Other machines may use a name that the service does not know, which only the policy ``open`` requires it to know.
    """
    if settings.access is Policy.GUARDED and not settings.hosts and not is_loopback(settings.metrics_host):
        return ("*",)
    return (*settings.hosts, settings.metrics_host)


def _is_in_terminal() -> bool:
    """Return whether the service should end with its terminal, which nohup prevents (contract K5).

    Otherwise, SIGHUP is ignored until the server handles it: a starting service has no workers to replace.
    """
    if not hasattr(signal, "SIGHUP"):
        return False
    if signal.getsignal(signal.SIGHUP) is not signal.SIG_IGN and sys.stdin is not None and sys.stdin.isatty():
        return True
    signal.signal(signal.SIGHUP, signal.SIG_IGN)
    return False


def load_server() -> ModuleType:
    """Return the server module, whose packages are an extra."""
    try:
        from logoadmin.entrypoints import server
    except ModuleNotFoundError as error:
        raise StartError(f"{error.name} is not installed", install_extra("server")) from error
    return server


def check_address(settings: "Settings", host: str | None = None) -> None:
    """Reject an address that others can reach without an explicit policy, and several processes with data in memory.

    ``host`` is the address of a socket from systemd.

    Raises:
        SettingsError: naming the missing setting.
    """
    from logoadmin.starting import MEMORY

    host = host or settings.host
    if settings.access is None and not is_loopback(host):
        raise SettingsError(
            f"Others can reach {host}",
            "choose --access guarded, or --access open if everyone who can reach it may change the gallery",
        )
    if settings.access is Policy.OPEN and not settings.hosts and not is_loopback(host):
        raise SettingsError(
            f"On {host} with --access open, the service must know its names, or any web page could "
            "lead browsers here and change the gallery",
            "name them with --hosts gallery.example, or use --hosts '*' for any",
        )
    if settings.workers > 1 and settings.database.get_secret_value() == MEMORY:
        raise SettingsError("Processes cannot share a database in memory", "use --workers 1, or another database")


def _application(settings: "Settings", gallery: "LogoAdmin | None") -> "ASGIApp":
    """Create the application of a gallery; a worker process opens the one that the first process has created."""
    from logoadmin.bootstrap import open_gallery
    from logoadmin.entrypoints.app import web_application

    gallery = gallery or open_gallery(settings, create="existing", counted=settings.metrics_port is not None)
    # If everything requires a token, pages of other sites can do no harm under any name (contract A22).
    any_name = settings.access is Policy.GUARDED and not settings.hosts
    return web_application(gallery, settings, hosts=None if any_name else settings.hosts, from_sockets=True)


def _show_addresses(settings: "Settings", address: str, url: str) -> None:
    # Browsers offer passkeys on localhost, not on 127.0.0.1. Other addresses may not be reachable by that name.
    by_name = settings.public_url is not None or address in _LOCALHOST
    base = settings.effective_public_url.base if by_name else url
    if settings.console:
        click.echo(f"The console is at {base}/console/")
    click.echo(f"logoadmin listens on {url}\nRead and try the HTTP interface at {base}/docs")


@click.command()
@serve_options
def config(**flags: Any) -> None:
    """Print every setting in force and where it comes from.

    Secrets are masked. Accepts the options of serve, to try them out. Settings that serve would refuse are reported on
    standard error.
    """
    from pydantic import SecretStr

    from logoadmin.settings import load_settings

    settings = load_settings(**flags)
    for problem in _refusals(settings):
        show_line(f"logoadmin: serve refuses these settings: {problem}", err=True)
    values = {name: _HIDDEN if isinstance(value, SecretStr) else value for name, value in settings}
    values |= settings.model_dump(mode="json", exclude={name for name, value in values.items() if value == _HIDDEN})
    values["database"] = without_password(settings.database.get_secret_value())
    values["public_url"] = settings.effective_public_url.base
    for name, value in values.items():
        source = settings.sources.get(name, "default")
        show_line(f"{name}  {written(value) or 'none'}  {source}")


def written(value: Any) -> str:
    """Return a setting in the form of an environment variable; "" for None."""
    match value:
        case list():
            return ",".join(map(str, value))
        case dict():
            return json.dumps(value, ensure_ascii=False) if value else ""
        case bool():
            return str(value).lower()
        case _:
            return "" if value is None else str(value)


def without_password(url: str) -> str:
    """Return a database URL without user, password and options; "***" if these cannot be told apart."""
    if _FILE.fullmatch(url):
        return url
    found = _SERVER.fullmatch(url)
    return _HIDDEN if found is None else f"{found[1]}{_HIDDEN}@{found[2]}"


def _refusals(settings: "Settings") -> Iterator[str]:
    """Yield the reasons why the service cannot start with these settings, which are valid one by one."""
    from logoadmin.maintenance import check_keys, files_of_database

    for check in (check_address, check_keys, files_of_database):
        try:
            check(settings)
        except SettingsError as error:
            yield str(error)

"""Serving an application, in this process or in several (contract H1, H4, H5)."""

import functools
import gc
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from starlette.types import ASGIApp
from uvicorn.config import Config

from logoadmin.entrypoints.server.graceful import GracefulServer
from logoadmin.entrypoints.server.listener import BACKLOG, url_of
from logoadmin.entrypoints.server.logs import configure_logging, with_access_log
from logoadmin.entrypoints.server.orders import Orders
from logoadmin.entrypoints.server.protocol import BoundedProtocol
from logoadmin.entrypoints.server.proxies import BehindProxies
from logoadmin.entrypoints.server.supervisor import Supervisor
from logoadmin.entrypoints.server.workers import HEARTBEAT, start_application
from logoadmin.ports.metrics import Metrics, NoMetrics

_OPEN_FILES: Final = 65_536
_UNSENT: Final = 65_536  # bytes


# Makes the application of one process.
Application = Callable[[], ASGIApp]


@dataclass(frozen=True)
class Options:
    """How requests are served, the same way in all processes.

    Attributes:
        log_level: ``debug``, ``info`` (with each request), ``warning`` or ``error``; log_format: ``text`` or ``json``.
        trusted_proxies: whose word is taken on who the client is; others could write anything into the header.
        root_path: the prefix that a proxy takes off; in the scope it is back at the front of the path, as ASGI has it.
        drain_seconds: for which connections are still taken after SIGTERM, while ``/readyz`` answers 503.
        in_terminal: whether SIGHUP means that a terminal is closed, and stops the service.
        owns_listener: whether the socket is the service's alone, and nobody listens any more when it stops.
    """

    log_level: str = "warning"
    log_format: str = "text"
    trusted_proxies: Collection[IPv4Network | IPv6Network] = ()
    root_path: str = ""
    drain_seconds: float = 0
    in_terminal: bool = False
    owns_listener: bool = False


def serve(
    application: Application | None,
    listener: socket.socket,
    options: Options,
    *,
    workers: int,
    listening: Callable[[str], object],
    here: Callable[[], ASGIApp] | None = None,
    metrics: Metrics | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight and return; SIGHUP replaces the workers.

    Args:
        application: makes it in each worker process; it must be picklable. None where only this process can serve.
        listener: the socket, from :func:`~logoadmin.entrypoints.server.listener.listen`.
        options: how it is served.
        workers: how many there are; one is this process itself, until it is replaced.
        listening: is told the URL, once requests are answered there.
        here: makes the application in this process, where that is not made in the same way.
        metrics: counts workers that died.

    Raises:
        SystemExit: with code 1, a worker could not start; the log says why. Exception: what ``here`` raises.
    """
    configure_logging(options.log_level, options.log_format)
    _make_room_for_connections(listener)
    make = here or application
    supervisor = Supervisor(
        listener,
        metrics or NoMetrics(),
        here=functools.partial(_serve, _whole(make, options), options) if workers == 1 and make is not None else None,
        serve=functools.partial(_serve_in_worker, application, options) if application is not None else None,
        count=workers,
        ready=functools.partial(listening, url_of(listener)),
        drain_seconds=options.drain_seconds,
        in_terminal=options.in_terminal,
        owns_listener=options.owns_listener,
    )
    supervisor.run()


def _serve_in_worker(
    application: Application,
    options: Options,
    listener: socket.socket,
    beat: Callable[[], None],
    orders: Orders,
) -> None:
    configure_logging(options.log_level, options.log_format)
    app = start_application(functools.partial(_whole, application, options))
    _serve(app, options, listener, beat, orders)


def _serve(
    app: ASGIApp,
    options: Options,
    listener: socket.socket,
    beat: Callable[[], None],
    orders: Orders,
) -> None:
    """Serve until ordered to end, and give a sign of life every now and then."""
    config = _config(app, options)

    async def notify() -> None:
        beat()

    config.callback_notify, config.timeout_notify = notify, HEARTBEAT
    GracefulServer(config, orders, options.drain_seconds).run([listener])


def _whole(make: Callable[[], ASGIApp], options: Options) -> ASGIApp:
    """Make the application, with the log and the proxies before it."""
    app = make()
    # All that is there now stays: a full collection that looks through it would take 60 ms in which nobody is answered.
    gc.freeze()
    logged = with_access_log(app)
    return BehindProxies(logged, options.trusted_proxies) if options.trusted_proxies else logged


def _config(app: ASGIApp, options: Options) -> Config:
    return Config(
        lambda: app,
        factory=True,
        interface="asgi3",
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=options.log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        root_path=options.root_path,
        backlog=BACKLOG,
        timeout_keep_alive=5,
    )


def _make_room_for_connections(listener: socket.socket) -> None:
    _allow_many_connections()
    limit_unsent(listener)


def _allow_many_connections() -> None:
    """Let the process have as many connections as the system allows, often 1,024 by default (contract H4)."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
    if soft != resource.RLIM_INFINITY and soft < most:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


def limit_unsent(listener: socket.socket) -> None:
    """Let the system hold little for a client that does not read; what is on its way may be megabytes.

    So a slow reader costs no memory there either, and what it takes shows soon. Connections inherit it.
    """
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)

"""Serving an application, in this process or in several (contract H1, H4, H5)."""

import functools
import gc
import logging
import signal
import socket
from collections.abc import Callable, Collection
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from types import FrameType
from typing import Any, Final

from starlette.types import ASGIApp
from uvicorn.config import Config

from logoadmin.entrypoints.server.failures import FailureResponses
from logoadmin.entrypoints.server.graceful import GracefulServer
from logoadmin.entrypoints.server.listener import BACKLOG, url_of
from logoadmin.entrypoints.server.logs import configure_logging, with_access_log
from logoadmin.entrypoints.server.protocol import BoundedProtocol
from logoadmin.entrypoints.server.proxies import BehindProxies
from logoadmin.entrypoints.server.supervisor import Supervisor
from logoadmin.ports.metrics import Metrics, NoMetrics

log = logging.getLogger("logoadmin.server")

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
        drain_seconds: for which connections are still taken after SIGTERM, while ``/readyz`` responds with 503.
        in_terminal: whether SIGHUP means that a terminal is closed, and stops the service.
    """

    log_level: str = "warning"
    log_format: str = "text"
    trusted_proxies: Collection[IPv4Network | IPv6Network] = ()
    root_path: str = ""
    drain_seconds: float = 0
    in_terminal: bool = False


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
    """Serve until SIGTERM or SIGINT, then finish what is in flight and return; SIGHUP replaces two or more workers.

    Args:
        application: makes it in each worker process; it must be picklable. None where only this process can serve.
        listener: the socket, from :func:`~logoadmin.entrypoints.server.listener.listen`.
        options: how it is served.
        workers: how many there are; one is this process itself.
        listening: is called with the URL, once requests are answered there.
        here: makes the application in this process, where that is not made in the same way.
        metrics: counts workers that died.

    Raises:
        SystemExit: with code 1, a worker could not start; the log says why. Exception: what ``here`` raises.
    """
    configure_logging(options.log_level, options.log_format)
    _make_room_for_connections(listener)
    ready = functools.partial(listening, url_of(listener))
    make = here or application
    if workers == 1 and make is not None:
        _serve_alone(_config(_whole(make, options), options), listener, options, ready)
    elif application is not None:
        Supervisor(
            functools.partial(_worker_config, application, options),
            listener,
            metrics or NoMetrics(),
            count=workers,
            ready=ready,
            drain_seconds=options.drain_seconds,
            in_terminal=options.in_terminal,
        ).run()


def _serve_alone(config: Config, listener: socket.socket, options: Options, ready: Callable[[], object]) -> None:
    """Serve in this process alone."""
    server = GracefulServer(config, options.drain_seconds, ready)
    handlers: dict[str, Any] = {"SIGTERM": server.handle_exit, "SIGINT": server.handle_exit}
    handlers["SIGHUP"] = server.handle_exit if options.in_terminal else _explain_sighup
    received = {signal.Signals[name]: handlers[name] for name in handlers.keys() & signal.Signals.__members__.keys()}
    for number, handler in received.items():
        signal.signal(number, handler)
    server.run([listener])
    for number in received:
        # Python forgets its handlers before it has ended, and one more signal then would be the exit code.
        signal.signal(number, signal.SIG_IGN)


def _explain_sighup(_received: int, _frame: FrameType | None) -> None:
    log.warning("SIGHUP replaces workers, and a single process has none: use --workers 2, or restart the service")


def _worker_config(application: Application, options: Options) -> Config:
    configure_logging(options.log_level, options.log_format)
    return _config(_whole(application, options), options)


def _whole(make: Callable[[], ASGIApp], options: Options) -> ASGIApp:
    """Make the application, with the log and the proxies before it."""
    app: ASGIApp = FailureResponses(make())
    # Everything loaded now stays: a full collection that examines it would take 60 ms in which nobody is answered.
    gc.freeze()
    logged = with_access_log(app)
    return BehindProxies(logged, options.trusted_proxies) if options.trusted_proxies else logged


def _config(app: ASGIApp, options: Options) -> Config:
    return Config(
        app,
        interface="asgi3",
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level="critical",  # what uvicorn logs is logged here
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

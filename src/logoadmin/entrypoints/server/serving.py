"""Serving an application, in this process or in several (contract H1, H4, H5)."""

import gc
import logging
import signal
import socket
from collections.abc import Callable
from functools import partial
from types import FrameType
from typing import Any, Final

from starlette.types import ASGIApp
from uvicorn.config import Config

from logoadmin.entrypoints.server.graceful import GracefulServer, Options, uvicorn_config
from logoadmin.entrypoints.server.listener import url_of
from logoadmin.entrypoints.server.logged_requests import LoggedRequests
from logoadmin.entrypoints.server.logs import configure_logging
from logoadmin.entrypoints.server.protocol import allow_many_connections
from logoadmin.entrypoints.server.proxies import BehindProxies
from logoadmin.entrypoints.server.supervisor import Supervisor
from logoadmin.ports.metrics import Metrics, NoMetrics

log = logging.getLogger("logoadmin.server")

_UNSENT: Final = 65_536  # bytes


def serve(
    application: Callable[[], ASGIApp],
    listener: socket.socket,
    options: Options,
    *,
    workers: int,
    listening: Callable[[str], object],
    metrics: Metrics | None = None,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight and return; SIGHUP replaces two or more workers.

    Args:
        application: makes it; in each worker process if there are several, so it must then be picklable.
        listener: the socket, from :func:`~logoadmin.entrypoints.server.listener.listen`.
        options: how it is served.
        workers: how many there are; one is this process itself.
        listening: is called with the URL, once requests are answered there.
        metrics: counts workers that died.

    Raises:
        SystemExit: with code 1, a worker could not start; the log says why. Exception: what ``application`` raises
            in this process.
    """
    allow_many_connections()
    limit_unsent(listener)
    configure, ready = partial(_config, application, options), partial(listening, url_of(listener))
    if workers == 1:
        _serve_alone(configure(), listener, options, ready)
    else:
        configure_logging(options.log_level, options.log_format)
        Supervisor(configure, listener, options, metrics or NoMetrics(), count=workers, ready=ready).run()


def _serve_alone(config: Config, listener: socket.socket, options: Options, ready: Callable[[], object]) -> None:
    """Serve in this process alone."""
    server = GracefulServer(config, options.drain_seconds, ready)
    handlers: dict[str, Any] = {
        name: server.handle_exit for name in ("SIGTERM", "SIGINT", "SIGHUP") if hasattr(signal, name)
    }
    if "SIGHUP" in handlers and not options.in_terminal:
        handlers["SIGHUP"] = _explain_sighup
    for name, handler in handlers.items():
        signal.signal(signal.Signals[name], handler)
    server.run([listener])
    for name in handlers:
        # Python forgets its handlers before it has ended, and one more signal then would be the exit code.
        signal.signal(signal.Signals[name], signal.SIG_IGN)


def _explain_sighup(_received: int, _frame: FrameType | None) -> None:
    log.warning("SIGHUP replaces workers, and a single process has none: use --workers 2, or restart the service")


def _config(application: Callable[[], ASGIApp], options: Options) -> Config:
    """Make the application of a process, with the log and the proxies before it."""
    configure_logging(options.log_level, options.log_format)
    app: ASGIApp = LoggedRequests(application())
    # Everything loaded now stays: a full collection that examines it would take 60 ms in which nobody is answered.
    gc.freeze()
    if options.trusted_proxies:
        app = BehindProxies(app, options.trusted_proxies)
    return uvicorn_config(app, options.root_path)


def limit_unsent(listener: socket.socket) -> None:
    """Let the system hold little for a client that does not read; what is on its way may be megabytes.

    So a slow reader costs no memory there either, and what it takes shows soon. Connections inherit it.
    """
    if hasattr(socket, "TCP_NOTSENT_LOWAT"):
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT, _UNSENT)

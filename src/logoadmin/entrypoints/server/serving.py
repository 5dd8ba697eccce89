"""Serving an application, in this process or in several, and their metrics (contract H1, H4, H5, K2)."""

import gc
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from functools import partial
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import Server

from logoadmin.entrypoints.http_api.origins import Hosts, misdirected
from logoadmin.entrypoints.server.graceful import GracefulServer, Options, uvicorn_config
from logoadmin.entrypoints.server.listener import limit_unsent, url_of
from logoadmin.entrypoints.server.logs import LoggedRequests, configure_logging
from logoadmin.entrypoints.server.protocol import allow_many_connections
from logoadmin.entrypoints.server.proxies import BehindProxies
from logoadmin.entrypoints.server.supervisor import Supervisor
from logoadmin.ports.kernel.metrics import Metrics, NoMetrics

log = logging.getLogger("logoadmin.server")

_SWITCH_INTERVAL: Final = 0.0001  # seconds
_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


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
    # A thread that computes, such as one that judges CSS, keeps the interpreter lock for this long, and a request needs
    # it several times. Python's 5 ms would make others forty times as slow meanwhile; this costs nothing that was seen.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    # Everything loaded now stays: a full collection that examines it would take 60 ms in which nobody is answered.
    gc.freeze()
    if options.trusted_proxies:
        app = BehindProxies(app, options.trusted_proxies)
    return uvicorn_config(app, options.root_path, lifespan="on")


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Have this process and its workers count in one private directory, which is removed at the end."""
    with TemporaryDirectory(prefix="logoadmin-metrics-") as directory:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory  # read by prometheus-client when it is imported
        try:
            yield
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]


@contextmanager
def metrics_served(listener: socket.socket, text: Callable[[], str], hosts: Collection[str] = ()) -> Iterator[None]:
    """Answer ``GET /metrics`` from a thread of its own for as long as this lasts.

    Args:
        listener: its socket, from :func:`~logoadmin.entrypoints.server.listener.listen`.
        text: makes the response; it may block.
        hosts: the names in ``Host`` under which it answers, beside loopback names and any address (contract A22).
    """
    endpoint = Route("/metrics", lambda _request: Response(text(), headers={"content-type": _CONTENT_TYPE}))
    config = uvicorn_config(Hosts(Starlette(routes=[endpoint]), hosts, misdirected, any_address=True))
    config.timeout_graceful_shutdown = 1
    server = Server(config)
    thread = threading.Thread(target=server.run, args=([listener],), name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()

"""Serving with uvicorn, in one process or several, and their metrics (contract H1, H4, H5, K2, K5)."""

import gc
import logging
import multiprocessing
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any, Final

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.server import Server
from uvicorn.supervisors import Multiprocess

from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.http_api.documents import STOPPING
from logoadmin.entrypoints.http_api.origins import Hosts, misdirected
from logoadmin.entrypoints.server.listener import BACKLOG, url_of
from logoadmin.entrypoints.server.middleware import BehindProxies, LoggedRequests, configure_logging
from logoadmin.entrypoints.server.protocol import BoundedProtocol, allow_many_connections
from logoadmin.settings import Settings

log = logging.getLogger("logoadmin.server")

_SWITCH_INTERVAL: Final = 0.0001  # seconds
_SILENCE: Final = 15  # seconds after which an unresponsive worker is replaced
_TICK: Final = 0.05  # seconds
_START_PAUSE: Final = 1  # seconds between attempts to reach the database
_CONTENT_TYPE: Final = "text/plain; version=0.0.4; charset=utf-8"


def serve(
    application: Callable[[], ASGIApp],
    listener: socket.socket,
    settings: Settings,
    *,
    listening: Callable[[str], object],
    in_terminal: bool = False,
) -> None:
    """Serve until SIGTERM or SIGINT, then finish requests in progress and return; SIGHUP replaces two or more workers.

    Args:
        application: creates the application; in each worker process if there are several, so it must be picklable.
            A single worker is this process itself.
        listener, settings: the socket and the settings of the service.
        listening: called with the URL once requests are queued.
        in_terminal: whether SIGHUP means that the terminal was closed, and stops the service.

    Raises:
        SystemExit: with code 1, a worker could not start; the log has the reason. Exception: any error that
            ``application`` raises in this process.
    """
    allow_many_connections()
    configure_logging(settings.log_level, settings.log_format)
    config = _config(
        partial(_application if settings.workers == 1 else _worker_application, application, settings),
        factory=True,
        workers=settings.workers,
        timeout_worker_healthcheck=_SILENCE,
        lifespan="on",
        root_path=settings.root_path,
        timeout_graceful_shutdown=settings.drain_seconds,
    )
    ready = partial(listening, url_of(listener))
    (_serve_alone if settings.workers == 1 else _supervise)(config, listener, ready, in_terminal=in_terminal)


def _serve_alone(config: Config, listener: socket.socket, ready: Callable[[], object], *, in_terminal: bool) -> None:
    server = Server(config)
    # A signal also stops a server that is still starting. uvicorn raises it again at the end, without further effect.
    for received in (signal.SIGTERM, signal.SIGINT):
        signal.signal(received, server.handle_exit)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, server.handle_exit if in_terminal else _explain_sighup)
    ready()
    server.run([listener])


def _supervise(config: Config, listener: socket.socket, ready: Callable[[], object], *, in_terminal: bool) -> None:
    supervisor = Multiprocess(config, [listener])
    threading.Thread(target=_close_at_the_end, args=(supervisor, listener), daemon=True).start()
    if in_terminal:
        signal.signal(signal.SIGHUP, lambda _received, _frame: supervisor.should_exit.set())
    ready()
    supervisor.run()
    if any(process.exitcode == STARTUP_FAILURE for process in supervisor.processes):
        raise SystemExit(1)


def _close_at_the_end(supervisor: Multiprocess, listener: socket.socket) -> None:
    """Close the supervisor's socket when its workers stop, so that no client is queued but never accepted."""
    supervisor.should_exit.wait()
    while len(supervisor.processes) < supervisor.processes_num:  # each inherits the socket
        time.sleep(_TICK)
    listener.close()


def _config(app: Any, **options: Any) -> Config:
    """Return uvicorn's configuration, without the features that this program replaces."""
    return Config(
        app,
        interface="asgi3",
        http=BoundedProtocol,
        ws="none",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        backlog=BACKLOG,
        timeout_keep_alive=5,
        **options,
    )


def _explain_sighup(_received: int, _frame: FrameType | None) -> None:
    log.warning("SIGHUP replaces workers, and a single process has none: use --workers 2, or restart the service")


def _application(application: Callable[[], ASGIApp], settings: Settings) -> ASGIApp:
    """Create the application of a process, behind logging and trusted proxies."""
    app: ASGIApp = Stoppable(LoggedRequests(application()))
    # A computing thread, such as one that judges CSS, keeps the interpreter lock for this long, and a request needs the
    # lock several times. Python's 5 ms would slow other requests down forty times; this costs nothing measurable.
    sys.setswitchinterval(_SWITCH_INTERVAL)
    # Everything loaded so far is permanent; a full collection that examines it would delay all responses by 60 ms.
    gc.freeze()
    return BehindProxies(app, settings.trusted_proxies) if settings.trusted_proxies else app


def _worker_application(application: Callable[[], ASGIApp], settings: Settings) -> ASGIApp:
    """Create the application of a worker process, once its database is available (contract K5)."""
    configure_logging(settings.log_level, settings.log_format)
    if hasattr(signal, "SIGHUP"):
        signal.signal(signal.SIGHUP, signal.SIG_IGN)  # the supervisor acts on it
    threading.Thread(target=_end_with_parent, daemon=True).start()
    waited: StorageUnavailable | None = None
    while True:
        try:
            app = _application(application, settings)
        except StorageUnavailable as error:
            if waited is None:
                why = error.cause
                log.warning("Not ready yet, retrying: %s: %s (%s); %s", error.server, why.text, why.code, why.cure)
            waited = error
            time.sleep(_START_PAUSE)
        except LogoAdminError as error:
            log.critical("Cannot start: %s", error)
            raise SystemExit(STARTUP_FAILURE) from None
        except Exception:
            log.critical("Cannot start: a fault of the program", exc_info=True)
            raise SystemExit(STARTUP_FAILURE) from None
        else:
            if waited is not None:
                log.warning("The database at %s responds; starting", waited.server)
            return app


def _end_with_parent() -> None:
    """End this worker when its supervisor has ended, so that it does not keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class Stoppable:
    """Marks requests as received by a stopping service, once the signal to stop has arrived."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap the signal handlers of the server, which are already in place."""
        self._app = app
        self._is_stopping = False
        with suppress(ValueError):  # not in the main thread, so there are no signals
            for received in (signal.SIGTERM, signal.SIGINT):
                signal.signal(received, partial(self._stop, signal.getsignal(received)))

    def _stop(self, handle: Any, received: int, frame: FrameType | None) -> None:
        self._is_stopping = True
        if callable(handle):
            handle(received, frame)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if self._is_stopping:
            scope.setdefault("state", {})[STOPPING] = True
        await self._app(scope, receive, send)


@contextmanager
def shared_metrics() -> Iterator[None]:
    """Share metrics between this process and its workers through a private directory, removed at the end."""
    with TemporaryDirectory(prefix="logoadmin-metrics-") as directory:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = directory  # prometheus-client reads it on import
        try:
            yield
        finally:
            del os.environ["PROMETHEUS_MULTIPROC_DIR"]


@contextmanager
def metrics_served(listener: socket.socket, text: Callable[[], str], hosts: Collection[str] = ()) -> Iterator[None]:
    """Serve ``text()`` at ``/metrics`` from a separate thread until the block ends.

    ``hosts`` are accepted in ``Host`` besides loopback names and any address (contract A22).
    """
    endpoint = Route("/metrics", lambda _request: Response(text(), headers={"content-type": _CONTENT_TYPE}))
    app = Hosts(Starlette(routes=[endpoint]), hosts, misdirected, any_address=True)
    server = Server(_config(app, lifespan="off", timeout_graceful_shutdown=1))
    thread = threading.Thread(target=server.run, args=([listener],), name="metrics", daemon=True)
    thread.start()
    try:
        yield
    finally:
        server.should_exit = True
        thread.join()

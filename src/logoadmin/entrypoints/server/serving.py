"""Serving an application, in this process or in several (contract H1, H4, H5)."""

import asyncio
import functools
import gc
import logging
import signal
import socket
import threading
from collections.abc import Callable, Collection
from contextlib import suppress
from ipaddress import IPv4Network, IPv6Network
from types import FrameType
from typing import Final

from starlette.types import ASGIApp
from uvicorn.config import Config
from uvicorn.server import Server

from logoadmin.entrypoints.server.listener import BACKLOG, url_of
from logoadmin.entrypoints.server.logs import configure_logging, with_access_log
from logoadmin.entrypoints.server.protocol import BoundedProtocol
from logoadmin.entrypoints.server.proxies import BehindProxies
from logoadmin.entrypoints.server.workers import GRACE, HEARTBEAT, Supervisor, start_application

log = logging.getLogger("logoadmin.server")

_OPEN_FILES: Final = 65_536
_UNSENT: Final = 65_536  # bytes


def serve(
    application: Callable[[], ASGIApp],
    listener: socket.socket,
    *,
    workers: int,
    log_level: str,
    listening: Callable[[str], object],
    trusted_proxies: Collection[IPv4Network | IPv6Network] = (),
    root_path: str = "",
) -> None:
    """Serve until SIGTERM or SIGINT, then finish what is in flight and return.

    Args:
        application: makes the application, once in each process; for more than one process it must be picklable.
        listener: the socket, from :func:`listen`.
        workers: how many processes; one is this one.
        log_level: ``debug``, ``info`` (a line for each request), ``warning`` or ``error``.
        listening: is told the URL, once requests are answered there.
        trusted_proxies: whose word is taken on who the client is; others could write anything into the header.
        root_path: the prefix that a proxy takes off; in the scope it is back at the front of the path, as ASGI has it.

    Raises:
        SystemExit: with code 1, a worker could not start; the log says why.
        Exception: what ``application`` raises, if there is one process.
    """
    configure_logging(log_level)
    _allow_many_connections()
    limit_unsent(listener)
    ready = functools.partial(listening, url_of(listener))
    make = functools.partial(_whole, application, trusted_proxies)
    if workers == 1:
        _Server(_config(make(), log_level, root_path), ready).run([listener])
        return
    supervisor = Supervisor(functools.partial(_serve_in_worker, make, log_level, root_path), listener, workers, ready)
    supervisor.run()
    if supervisor.failed:
        raise SystemExit(1)


def _serve_in_worker(
    make: Callable[[], ASGIApp], log_level: str, root_path: str, listener: socket.socket, beat: Callable[[], None]
) -> None:
    """Serve in a worker process, and give a sign of life every now and then."""
    configure_logging(log_level)
    config = _config(start_application(make), log_level, root_path)

    async def notify() -> None:
        beat()

    config.callback_notify, config.timeout_notify = notify, HEARTBEAT
    _Server(config, lambda: None).run([listener])


def _whole(application: Callable[[], ASGIApp], trusted_proxies: Collection[IPv4Network | IPv6Network]) -> ASGIApp:
    """Make the application, with the log and the proxies before it."""
    app = application()
    # All that is there now stays: a full collection that looks through it would take 60 ms in which nobody is answered.
    gc.freeze()
    return with_access_log(BehindProxies(app, trusted_proxies) if trusted_proxies else app)


def _config(app: ASGIApp, log_level: str, root_path: str) -> Config:
    return Config(
        lambda: app,
        factory=True,
        interface="asgi3",
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        log_config=None,
        log_level=log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        root_path=root_path,
        backlog=BACKLOG,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=GRACE,
    )


class _Server(Server):
    """uvicorn's server, which says when it listens and returns when it is stopped."""

    def __init__(self, config: Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if hasattr(signal, "SIGHUP") and threading.current_thread() is threading.main_thread():
            told = "One process alone is not replaced on SIGHUP: restart the service, or serve with --workers 2"
            asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, log.warning, told)
        self._ready()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Stop; uvicorn would also raise the signal once more at the end, and that would be the exit code."""
        del frame
        self.force_exit |= self.should_exit and sig == signal.SIGINT
        self.should_exit = True


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

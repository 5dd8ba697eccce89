"""Serving the ASGI application: listening, processes and signals (contract H1, H4, H5)."""

import errno
import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network
from typing import Final

from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.server import Server
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from logoadmin.domain.errors import LogoAdminError, StartError
from logoadmin.entrypoints.http_api.forwarded import BehindProxies
from logoadmin.entrypoints.http_api.protocol import BoundedProtocol
from logoadmin.entrypoints.log_lines import configure_logging, logged

log = logging.getLogger("logoadmin.server")

_BACKLOG: Final = 2048  # connections that wait to be accepted
_GRACE: Final = 10  # seconds in which requests in flight are finished when the service stops
_PAUSE: Final = 1  # seconds between two tries to start a worker anew
_HEALTH: Final = 30  # seconds without a sign of life after which a process is replaced
_OPEN_FILES: Final = 65_536


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
    url = _url(listener)
    if workers == 1:
        app = _outer(application(), trusted_proxies)
        _Server(_config(lambda: app, workers, log_level, root_path), lambda: listening(url)).run([listener])
    else:
        config = _config(_Worker(application, log_level, trusted_proxies), workers, log_level, root_path)
        supervisor = _Supervisor(config, listener, lambda: listening(url))
        supervisor.run()
        if supervisor.failed:
            raise SystemExit(1)


def _outer(app: ASGIApp, trusted_proxies: Collection[IPv4Network | IPv6Network]) -> ASGIApp:
    return logged(BehindProxies(app, trusted_proxies) if trusted_proxies else app)


def _config(factory: Callable[[], ASGIApp], workers: int, log_level: str, root_path: str) -> Config:
    return Config(
        factory,
        factory=True,
        interface="asgi3",
        http=BoundedProtocol,
        ws="none",
        lifespan="off",
        workers=workers,
        log_config=None,
        log_level=log_level,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        root_path=root_path,
        backlog=_BACKLOG,
        timeout_keep_alive=5,
        timeout_graceful_shutdown=_GRACE,
        timeout_worker_healthcheck=_HEALTH,
    )


class _Server(Server):
    """uvicorn's server, which says when it listens and returns when it is stopped."""

    def __init__(self, config: Config, ready: Callable[[], object]) -> None:
        super().__init__(config)
        self._ready = ready

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._ready()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        with super().capture_signals():
            yield
            # Otherwise the signal is raised once more at the end, and that would be the exit code.
            self._captured_signals.clear()


# Several processes.


@dataclass(frozen=True, slots=True)
class _Worker:
    """What a worker process calls to get its application."""

    application: Callable[[], ASGIApp]
    log_level: str
    trusted_proxies: Collection[IPv4Network | IPv6Network]

    def __call__(self) -> ASGIApp:
        configure_logging(self.log_level)
        threading.Thread(target=_stop_with_parent, daemon=True).start()
        try:
            return _outer(self.application(), self.trusted_proxies)
        except LogoAdminError as error:
            log.critical("Cannot start: %s", error)
        except Exception:
            log.critical("Cannot start, by a fault of the program", exc_info=True)
        raise SystemExit(STARTUP_FAILURE)


def _stop_with_parent() -> None:
    """End this worker when its supervisor is gone, so that it does not keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)


class _Supervisor(Multiprocess):
    """uvicorn's supervisor, which gives up when a worker cannot start instead of trying for ever.

    Attributes:
        failed: whether it gave up.
    """

    def __init__(self, config: Config, listener: socket.socket, ready: Callable[[], object]) -> None:
        super().__init__(config, [listener])
        self._ready = ready
        self.failed = False

    def init_processes(self) -> None:
        """Start one worker and, when it serves, the others: what is wrong with all of them is said once."""
        for count in (1, self.processes_num - 1):
            workers = [self._worker() for _ in range(count)]
            self.processes += workers
            if not all(self._serves(worker) for worker in workers):
                self.failed = not self.should_exit.is_set()
                self.should_exit.set()
                return
        self._ready()

    def keep_subprocess_alive(self) -> None:
        """Replace the workers that have died."""
        for index, worker in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if not worker.is_alive(self.config.timeout_worker_healthcheck):
                worker.kill()
                worker.join()
                log.warning("Worker %s died with exit code %s; starting another", worker.pid, worker.exitcode)
                self.processes[index] = self._worker()
                # One that cannot start, perhaps for want of the database, is tried again while the others serve.
                if not self._serves(self.processes[index]):
                    self.should_exit.wait(_PAUSE)

    def join_all(self) -> None:
        """Wait for the workers to finish, but not for ever."""
        deadline = time.monotonic() + _GRACE + 5
        for worker in self.processes:
            worker.process.join(max(0.0, deadline - time.monotonic()))
            if worker.exitcode is None:
                log.warning("Worker %s does not stop; killing it", worker.pid)
                worker.process.kill()
                worker.process.join()

    def _worker(self) -> Process:
        worker = Process(self.config, self.sockets)
        worker.start()
        return worker

    def _serves(self, worker: Process) -> bool:
        """Wait until a worker serves; return False if it ends before that, or the service does."""
        while not self.should_exit.is_set():
            if worker.is_ready(timeout=0.2):
                return True
            if not worker.process.is_alive():
                if worker.exitcode != STARTUP_FAILURE:  # else it has said why itself
                    log.critical("Cannot start: a worker ended with exit code %s before it served", worker.exitcode)
                return False
            time.sleep(0.02)
            self.handle_signals()
        return False


# The socket.


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; a connection is queued from now on.

    Args:
        host: a name or an address of this machine.
        port: 0 for any that is free.

    Raises:
        StartError: saying what is wrong with the address and what to do.
    """
    try:
        found = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
    except (OSError, UnicodeError):
        raise StartError(
            f"There is no machine with the name {host!r}: give as host a name or an address of this one"
        ) from None
    # Of a name with several addresses, such as localhost, the IPv4 one: clients try both.
    family, kind, protocol, _, address = min(found, key=lambda entry: entry[0] != socket.AF_INET)
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":  # elsewhere it lets two programs share a port
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(_BACKLOG)
    except OSError as error:
        listener.close()
        raise StartError(_why_not(error, host, port)) from None
    return listener


def _why_not(error: OSError, host: str, port: int) -> str:
    match error.errno:
        case errno.EADDRINUSE:
            return f"Port {port} on {host} is taken by another program: stop that one, or give another port"
        case errno.EADDRNOTAVAIL:
            return f"{host} is not an address of this machine: give one that is as host, such as 127.0.0.1"
        case errno.EACCES | errno.EPERM:
            return f"Port {port} is only for privileged users: give a port above 1023"
        case _:
            return f"Cannot listen on {host}, port {port}: {error.strerror}; give another host or port"


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


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

"""Those who answer, each a process of its own or a thread of this one (contract H1, H5, K5)."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from math import inf
from multiprocessing.connection import Connection
from typing import Final

from starlette.types import ASGIApp

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.server.orders import GRACE, RETIREMENT, Order, Orders

log = logging.getLogger("logoadmin.server")

HEARTBEAT: Final = 5  # seconds between two signs of life of a worker
_SECONDS: Final = {Order.RETIRE: RETIREMENT, Order.STOP: GRACE, Order.BREAK_OFF: 0}  # for each order
_SILENCE: Final = 30  # seconds without one after which a worker is replaced
START_PAUSE: Final = 1  # seconds between two tries to start
CANNOT_START: Final = 3  # the exit code of a worker that has said itself why

# Serves on a socket until it is ordered to end, and calls the other every now and then, from when it serves.
Serve = Callable[[socket.socket, Callable[[], None], Orders], None]

_spawning = multiprocessing.get_context("spawn")


def start_application(application: Callable[[], ASGIApp]) -> ASGIApp:
    """Return the application of a worker, as soon as its database can be reached (contract K5).

    Raises:
        SystemExit: it cannot start for another reason; the log says why.
    """
    waited: StorageUnavailable | None = None
    while True:
        try:
            app = application()
        except StorageUnavailable as error:
            if waited is None:
                why = error.cause
                log.warning("Cannot start yet, and tries again: %s: %s (%s); %s", error, why.text, why.code, why.cure)
            waited = error
            time.sleep(START_PAUSE)
        except LogoAdminError as error:
            log.critical("Cannot start: %s", error)
            raise SystemExit(CANNOT_START) from None
        except Exception:
            log.critical("Cannot start, by a fault of the program", exc_info=True)
            raise SystemExit(CANNOT_START) from None
        else:
            if waited is not None:
                log.warning("The database at %s answers; starting", waited.server)
            return app


class Worker(ABC):
    """One who serves, as its supervisor sees it.

    Attributes:
        serves: whether it has begun to.
        ends: what to wait for, to hear of it.
    """

    def __init__(self) -> None:
        self._beats, self._theirs = _spawning.Pipe(duplex=False)
        self._orders = Orders()
        self._until = inf
        self.serves = False
        self.ends: tuple[Connection | int, ...] = (self._beats,)

    def look(self) -> bool:
        """Read its signs of life, and end it if there were none for too long; return whether it is alive."""
        with suppress(EOFError, OSError):
            while self._beats.poll():
                self._beats.recv_bytes()
                self._heard()
        if time.monotonic() > self._until:
            self._end()
        return self._is_alive()

    def order(self, order: Order) -> None:
        """Have it drain, or finish its requests and end within the time for that."""
        if order > self._orders.latest:
            self._orders.give(order)
            self._until = time.monotonic() + _SECONDS[order] + 5 if order in _SECONDS else self._until

    def _heard(self) -> None:
        self.serves = True

    @property
    @abstractmethod
    def pid(self) -> int | None:
        """The process that it is in."""

    @property
    @abstractmethod
    def exitcode(self) -> int | None:
        """How it ended: an exit code, or a signal as a negative number; None while it is alive."""

    @abstractmethod
    def _end(self) -> None:
        """End it whatever it does."""

    @abstractmethod
    def _is_alive(self) -> bool: ...


class WorkerProcess(Worker):
    """A worker that is a process: its crash takes no other worker with it."""

    def __init__(self, serve: Serve, listener: socket.socket) -> None:
        super().__init__()
        given = (serve, listener, self._theirs, self._orders)
        self._process = _spawning.Process(target=_run_worker, args=given, daemon=True)
        with _sighup_blocked():
            self._process.start()
        self._theirs.close()
        self.ends = (self._beats, self._process.sentinel)

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def exitcode(self) -> int | None:
        return self._process.exitcode

    def order(self, order: Order) -> None:
        super().order(order)
        if order >= Order.RETIRE:
            self._beats.close()
            self.ends = (self._process.sentinel,)
            if not self.serves:
                self._process.terminate()

    def _heard(self) -> None:
        super()._heard()
        self._until = time.monotonic() + _SILENCE

    def _end(self) -> None:
        log.warning("Worker %s does not %s; killing it", self.pid, "stop" if self._beats.closed else "answer")
        self._process.kill()
        self._process.join()

    def _is_alive(self) -> bool:
        return self._process.is_alive()


class WorkerThread(Worker):
    """A thread of this process: it starts sooner than a process, and takes less memory."""

    def __init__(self, serve: Serve, listener: socket.socket) -> None:
        super().__init__()
        self._exitcode = 0
        self._given_up = False
        self._thread = threading.Thread(target=self._run, args=(serve, listener), name="serving", daemon=True)
        self._thread.start()

    @property
    def pid(self) -> int | None:
        return os.getpid()

    @property
    def exitcode(self) -> int | None:
        return self._exitcode

    def _run(self, serve: Serve, listener: socket.socket) -> None:
        try:
            serve(listener, partial(self._theirs.send_bytes, b"!"), self._orders)
        except BaseException:
            log.critical("Serving ended, by a fault of the program", exc_info=True)
            self._exitcode = CANNOT_START
        finally:
            self._theirs.close()

    def _end(self) -> None:
        log.warning("What is in flight does not end; leaving it")
        self._given_up = True

    def _is_alive(self) -> bool:
        return self._thread.is_alive() and not self._given_up


@contextmanager
def _sighup_blocked() -> Iterator[None]:
    """Keep SIGHUP from the process that is started meanwhile for good: a terminal that closes sends it to everybody."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _run_worker(serve: Serve, listener: socket.socket, beats: Connection, orders: Orders) -> None:
    """Serve in this process, until an order, a signal or the end of the supervisor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until it serves; a terminal sends it to everybody
    threading.Thread(target=_stop_with_parent, args=(orders,), daemon=True).start()

    def beat() -> None:
        with suppress(OSError):  # nobody listens any more
            beats.send_bytes(b"!")

    serve(listener, beat, orders)


def _stop_with_parent(orders: Orders) -> None:
    """End this worker when its supervisor is gone, so that it does not keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        orders.give(Order.STOP)
        os.kill(os.getpid(), signal.SIGTERM)  # one that does not serve yet looks at no orders
        time.sleep(GRACE + 5)
        os._exit(1)

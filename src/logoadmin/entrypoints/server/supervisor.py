"""The one that looks after those who serve, and has them replaced and stopped (contract H1, H5, K5)."""

import logging
import multiprocessing
import signal
import socket
import time
from collections.abc import Callable, Iterator
from multiprocessing.connection import wait
from types import FrameType
from typing import Final

from logoadmin.entrypoints.server.listener import ignore_who_connects
from logoadmin.entrypoints.server.orders import Order
from logoadmin.entrypoints.server.workers import CANNOT_START, START_PAUSE, Serve, Worker, WorkerProcess, WorkerThread
from logoadmin.ports.metrics import Metrics

log = logging.getLogger("logoadmin.server")

_POLL: Final = 0.5  # seconds between two looks at the workers when nothing is heard of them
_HANDSHAKE: Final = 0.2  # seconds in which a connection that has begun to be made is made
# As far as the system has them.
_SIGNALS: Final = [
    getattr(signal, name) for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP") if hasattr(signal, name)
]

_spawning = multiprocessing.get_context("spawn")


class Supervisor:
    """Keeps as many workers as are wanted, until it is told to stop.

    SIGHUP has each of them replaced, by one that serves before the old one ends; in a terminal, which sends it when it
    is closed, it stops them as SIGTERM does. A worker that waits for its database keeps nobody else from being looked
    after.

    Args:
        listener: the socket that all of them share.
        metrics: counts those that died.
        here: what this process does itself, as the first worker, until it is replaced; None where it serves nobody.
        serve: what a worker process does; None where nobody else can do it.
        count: how many there are.
        ready: is called once all of them serve.
        drain_seconds: how long they take connections still, after SIGTERM.
        in_terminal: whether SIGHUP says that the terminal is closed.
        owns_listener: whether nobody else listens on the socket.
    """

    def __init__(
        self,
        listener: socket.socket,
        metrics: Metrics,
        *,
        here: Serve | None,
        serve: Serve | None,
        count: int,
        ready: Callable[[], object],
        drain_seconds: float,
        in_terminal: bool,
        owns_listener: bool,
    ) -> None:
        self._listener = listener
        self._replaceable = serve is not None
        self._count = count
        self._ready = ready
        self._metrics = metrics
        self._drain_seconds = drain_seconds
        self._in_terminal = in_terminal
        self._owns_listener = owns_listener
        self._new = self._supply(here, serve)
        self._workers: list[Worker] = []
        self._old: list[Worker] = []  # of those, the ones that are to be replaced
        self._retiring: list[Worker] = []
        self._complete = self._has_served = False  # once all, or one of them, have served
        self._starts_from = 0.0
        self._hung_up = self._stopping = self._at_once = self._broken_off = False
        self._woken, self._wake = _spawning.Pipe(duplex=False)
        self._failed = False

    def run(self) -> None:
        """Return when all workers have ended.

        Raises:
            SystemExit: with code 1, the service never served, or cannot any more.
        """
        for received in _SIGNALS:
            signal.signal(received, self._handle_signal)
        while not self._stopping:
            self._start()
            self._listen()
            self._replace()
        self._drain()
        if self._owns_listener:
            ignore_who_connects(self._listener)
            time.sleep(_HANDSHAKE)
        # Here too, or else clients would be queued that nobody answers.
        self._listener.close()
        while self._workers:
            self._retire(self._workers[0])
        for worker in self._retiring:
            worker.order(Order.STOP)
        while self._retiring:
            self._listen()
            if self._broken_off:
                for worker in self._retiring:
                    worker.order(Order.BREAK_OFF)
        for received in _SIGNALS:
            # Python forgets its handlers before it has ended, and one more signal then would be the exit code.
            signal.signal(received, signal.SIG_IGN)
        if self._failed:
            raise SystemExit(1)

    def _handle_signal(self, received: int, _frame: FrameType | None) -> None:
        """Note what is wanted; a terminal's interrupt does not drain, and a second one does not wait either."""
        if received == getattr(signal, "SIGHUP", None) and not self._in_terminal:
            self._hung_up = True
        else:
            if received == signal.SIGINT:
                self._broken_off, self._at_once = self._at_once, True
            self._stopping = True
        self._wake.send_bytes(b"!")

    def _start(self) -> None:
        """Start missing workers; the first alone, so that a fault of all of them is logged once."""
        wanted = self._count + bool(self._old) if any(worker.serves for worker in self._workers) else 1
        while len(self._workers) < wanted and time.monotonic() >= self._starts_from:
            self._workers.append(next(self._new))

    def _supply(self, here: Serve | None, serve: Serve | None) -> Iterator[Worker]:
        if here is not None:
            yield WorkerThread(here, self._listener.dup())
        while serve is not None:
            yield WorkerProcess(serve, self._listener)

    def _listen(self, seconds: float = _POLL) -> None:
        """Wait until something happens, or for a short time, and act on it."""
        everybody = [*self._workers, *self._retiring]
        heard = wait([self._woken, *(end for worker in everybody for end in worker.ends)], seconds)
        if self._woken in heard:
            self._woken.recv_bytes()
        for worker in everybody:
            if not worker.look():
                self._handle_death(worker)
        self._has_served = self._has_served or any(worker.serves for worker in self._workers)
        if not self._complete and sum(worker.serves for worker in self._workers) == self._count:
            self._complete = True
            self._ready()

    def _handle_death(self, worker: Worker) -> None:
        if isinstance(worker, WorkerProcess) and worker.pid is not None:
            self._metrics.worker_ended(worker.pid)
        if worker in self._retiring:
            self._retiring.remove(worker)
            return
        self._forget(worker)
        if self._stopping:  # who sent SIGTERM sent it to all processes perhaps
            return
        if not self._replaceable:
            self._failed = self._stopping = True
        elif worker.serves:
            log.warning("Worker %s died with exit code %s; starting another", worker.pid, worker.exitcode)
            self._metrics.worker_restarted()
        else:
            self._handle_failed_start(worker)

    def _handle_failed_start(self, worker: Worker) -> None:
        if worker.exitcode != CANNOT_START:
            log.critical("Cannot start: a worker ended with exit code %s before it served", worker.exitcode)
        if not self._has_served:
            self._failed = self._stopping = True
        # Later it is tried again while the others serve, and those that were to be replaced are better than none.
        self._old = []
        self._starts_from = time.monotonic() + START_PAUSE

    def _replace(self) -> None:
        """Go on with what SIGHUP wants: one more than usual serve before one of the old ones leaves."""
        if self._hung_up:
            self._hung_up = False
            self._old = [*self._workers]
            if not self._replaceable:
                log.warning("A gallery in memory is that of one process, which is not replaced on SIGHUP")
                self._old = []
        one_more = sum(worker.serves for worker in self._workers) > self._count
        # Those that were replaced may take long to finish; there are never more of them than of those who serve.
        if self._old and one_more and len(self._retiring) < self._count:
            self._retire(self._old[0])

    def _drain(self) -> None:
        """Have those who serve take connections still for a while, and the proxies hear that it ends."""
        ends = time.monotonic() + self._drain_seconds
        for worker in [*self._workers]:
            if worker.serves:
                worker.order(Order.DRAIN)
            else:
                self._retire(worker)
        while self._workers and not self._at_once and (left := ends - time.monotonic()) > 0:
            self._listen(min(left, _POLL))

    def _retire(self, worker: Worker) -> None:
        self._forget(worker)
        self._retiring.append(worker)
        worker.order(Order.RETIRE)

    def _forget(self, worker: Worker) -> None:
        self._workers.remove(worker)
        self._old = [old for old in self._old if old is not worker]

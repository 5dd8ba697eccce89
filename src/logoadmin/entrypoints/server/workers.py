"""Several processes that answer, and the one that looks after them (contract H1, H5, K5)."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from math import inf
from multiprocessing.connection import Connection, wait
from types import FrameType
from typing import Final

from starlette.types import ASGIApp

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable

log = logging.getLogger("logoadmin.server")

GRACE: Final = 10  # seconds in which requests in flight are finished when a process stops
HEARTBEAT: Final = 5  # seconds between two signs of life of a worker
_SILENCE: Final = 30  # seconds without one after which a worker is replaced
_PAUSE: Final = 1  # seconds between two tries to start
_POLL: Final = 0.5  # seconds between two looks at the workers when nothing is heard of them
_CANNOT_START: Final = 3  # the exit code of a worker that has said itself why

# Serves on a socket until SIGTERM, and calls the other every now and then, from when it serves.
Serve = Callable[[socket.socket, Callable[[], None]], None]

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
            time.sleep(_PAUSE)
        except LogoAdminError as error:
            log.critical("Cannot start: %s", error)
            raise SystemExit(_CANNOT_START) from None
        except Exception:
            log.critical("Cannot start, by a fault of the program", exc_info=True)
            raise SystemExit(_CANNOT_START) from None
        else:
            if waited is not None:
                log.warning("The database at %s answers; starting", waited.server)
            return app


class Supervisor:
    """Keeps as many workers as are wanted, until it is told to stop.

    SIGHUP has each of them replaced, by one that serves before the old one ends. A worker that waits for its database
    keeps nobody else from being looked after.

    Args:
        serve: what a worker does.
        listener: the socket that all of them share.
        count: how many there are.
        ready: is called once all of them serve.

    Attributes:
        failed: whether a worker could not start, so that the service never did.
    """

    def __init__(self, serve: Serve, listener: socket.socket, count: int, ready: Callable[[], object]) -> None:
        self._serve = serve
        self._listener = listener
        self._count = count
        self._ready = ready
        self._workers: list[_Worker] = []
        self._old: list[_Worker] = []  # of those, the ones that are to be replaced
        self._retiring: list[_Worker] = []
        self._complete = False  # once all have served
        self._starts_from = 0.0
        self._stopping = self._hung_up = False
        self._woken, self._wake = _spawning.Pipe(duplex=False)
        self.failed = False

    def run(self) -> None:
        """Return when all workers have ended."""
        for name in ("SIGTERM", "SIGINT", "SIGBREAK", "SIGHUP"):  # as far as the system has them
            if hasattr(signal, name):
                signal.signal(getattr(signal, name), self._handle_signal)
        while not self._stopping:
            self._start()
            self._listen()
            self._replace()
        # Here too, or else clients would be queued that nobody answers.
        self._listener.close()
        while self._workers:
            self._retire(self._workers[0])
        while self._retiring:
            self._listen()

    def _handle_signal(self, received: int, _frame: FrameType | None) -> None:
        if received == getattr(signal, "SIGHUP", None):
            self._hung_up = True
        else:
            self._stopping = True
        self._wake.send_bytes(b"!")

    def _start(self) -> None:
        """Start missing workers; the first alone, so that a fault of all of them is logged once."""
        wanted = self._count + bool(self._old) if any(worker.serves for worker in self._workers) else 1
        while len(self._workers) < wanted and time.monotonic() >= self._starts_from:
            self._workers.append(_Worker(self._serve, self._listener))

    def _listen(self) -> None:
        """Wait until something happens, or for a short time, and act on it."""
        everybody = [*self._workers, *self._retiring]
        heard = wait([self._woken, *(end for worker in everybody for end in worker.ends)], _POLL)
        if self._woken in heard:
            self._woken.recv_bytes()
        for worker in everybody:
            if not worker.look():
                self._handle_death(worker)
        if not self._complete and sum(worker.serves for worker in self._workers) == self._count:
            self._complete = True
            self._ready()

    def _handle_death(self, worker: "_Worker") -> None:
        if worker in self._retiring:
            self._retiring.remove(worker)
            return
        self._workers.remove(worker)
        if worker.serves:
            log.warning("Worker %s died with exit code %s; starting another", worker.pid, worker.exitcode)
            return
        if worker.exitcode != _CANNOT_START:
            log.critical("Cannot start: a worker ended with exit code %s before it served", worker.exitcode)
        if not self._complete:
            self.failed = self._stopping = True
        # Later it is tried again while the others serve, and those that were to be replaced are better than none.
        self._old = []
        self._starts_from = time.monotonic() + _PAUSE

    def _replace(self) -> None:
        """Go on with what SIGHUP wants: one more than usual serve before one of the old ones leaves."""
        if self._hung_up:
            self._hung_up = False
            self._old = [*self._workers]
        self._old = [worker for worker in self._old if worker in self._workers]
        one_more = sum(worker.serves for worker in self._workers) > self._count
        if self._old and one_more and not self._retiring:
            self._retire(self._old[0])

    def _retire(self, worker: "_Worker") -> None:
        self._workers.remove(worker)
        self._retiring.append(worker)
        worker.stop()


class _Worker:
    """A worker, as its supervisor sees it.

    Attributes:
        serves: whether it has begun to.
        ends: what to wait for, to hear of it.
    """

    def __init__(self, serve: Serve, listener: socket.socket) -> None:
        self._beats, theirs = _spawning.Pipe(duplex=False)
        self._process = _spawning.Process(target=_run_worker, args=(serve, listener, theirs), daemon=True)
        with _sighup_blocked():
            self._process.start()
        theirs.close()
        self._until = inf
        self.serves = False
        self.ends: tuple[Connection | int, ...] = (self._beats, self._process.sentinel)

    @property
    def pid(self) -> int | None:
        return self._process.pid

    @property
    def exitcode(self) -> int | None:
        return self._process.exitcode

    def look(self) -> bool:
        """Read its signs of life, and kill it if there were none for too long; return whether it is alive."""
        with suppress(EOFError, OSError):
            while self._beats.poll():
                self._beats.recv_bytes()
                self.serves, self._until = True, time.monotonic() + _SILENCE
        if time.monotonic() > self._until:
            log.warning("Worker %s does not %s; killing it", self.pid, "stop" if self._beats.closed else "answer")
            self._process.kill()
            self._process.join()
        return self._process.is_alive()

    def stop(self) -> None:
        """Have it finish its requests and end, within the time for that."""
        self._process.terminate()
        self._beats.close()
        self.ends = (self._process.sentinel,)
        self._until = time.monotonic() + GRACE + 5


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


def _run_worker(serve: Serve, listener: socket.socket, beats: Connection) -> None:
    """Serve in this process, until a signal or the end of the supervisor."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # until it serves; a terminal sends it to everybody
    threading.Thread(target=_stop_with_parent, daemon=True).start()

    def beat() -> None:
        with suppress(OSError):  # nobody listens any more
            beats.send_bytes(b"!")

    serve(listener, beat)


def _stop_with_parent() -> None:
    """End this worker when its supervisor is gone, so that it does not keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)

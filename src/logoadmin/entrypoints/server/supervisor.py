"""The supervisor: starts, replaces and stops worker processes (contract H1, H5, K5)."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any, Final

from uvicorn.config import Config
from uvicorn.supervisors.multiprocess import SIGNALS, Multiprocess, Process

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.server.graceful import GRACE, RETIRE, RETIREMENT, GracefulServer
from logoadmin.ports.metrics import Metrics

log = logging.getLogger("logoadmin.server")

_SILENCE: Final = 30  # seconds without a sign of life after which a worker is replaced
_TICK: Final = 0.05  # seconds between two looks at workers that stop
_START_PAUSE: Final = 1  # seconds between two tries to start
_CANNOT_START: Final = 3  # the exit code of a worker that has logged why

# Makes the configuration of a worker process, and in it the application.
Configure = Callable[[], Config]


class Worker(Process):
    """A worker process, which waits for its database before it serves.

    Attributes:
        serves: whether it has begun to.
    """

    def __init__(self, configure: Configure, listener: socket.socket, drain_seconds: float) -> None:
        self._configure = configure
        self._drain_seconds = drain_seconds
        self._ends_by = time.monotonic() + _SILENCE
        self.serves = False
        super().__init__(Config("", log_config=None), [listener])
        self.process.daemon = True  # a supervisor that fails ends its workers, and does not wait for them

    # In the worker.

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve in this process, until a signal or the end of the supervisor."""
        for name in {"SIGINT", "SIGHUP"} & signal.Signals.__members__.keys():  # a terminal sends them to everybody
            signal.signal(signal.Signals[name], signal.SIG_IGN)
        for run in (self.always_pong, _end_with_parent):
            threading.Thread(target=run, daemon=True).start()
        self._server = GracefulServer(_config_of(self._configure), self._drain_seconds, is_worker=True)
        self._server.run(sockets)

    def pong(self) -> None:
        """Respond to one ping, unless the event loop is stuck."""
        self.child_conn.recv()
        server: Any = self._server
        has_started = server is not None and server.started
        if not has_started or time.monotonic() < server.ticked_at + _SILENCE:
            self.child_conn.send(has_started)

    # In the supervisor.

    def look(self) -> bool:
        """Read its signs of life, ask for another, and kill it where they are missing; return whether it is alive."""
        with suppress(OSError, EOFError):
            while self.parent_conn.poll():
                self.serves = self.parent_conn.recv() or self.serves
                self._ends_by = time.monotonic() + _SILENCE
            self.parent_conn.send(b"ping")
        if time.monotonic() > self._ends_by:
            log.warning("Worker %s does not %s; killing it", self.pid, "stop" if self.parent_conn.closed else "answer")
            self.end()
        return self.process.is_alive()

    def stop(self, how: int, seconds: float) -> None:
        """Have it stop within a time."""
        self.parent_conn.close()
        self._ends_by = time.monotonic() + seconds + 5
        if self.process.is_alive() and self.pid is not None:
            os.kill(self.pid, how)

    def end(self) -> None:
        """End it if it is alive, and release its pipes."""
        self.kill()
        self.join()


class Supervisor(Multiprocess):
    """Keeps a number of workers running until a signal stops it.

    SIGHUP has each of them replaced, by one that serves before the old one stops; in a terminal, which sends it when it
    is closed, it stops them as SIGTERM does. A worker that waits for its database delays no other.

    Args:
        configure: makes the configuration of a worker.
        listener: the socket that all of them share.
        metrics: counts those that died.
        count: how many there are.
        ready: is called once all of them serve.
        drain_seconds: how long they still accept connections after SIGTERM.
        in_terminal: whether SIGHUP means that the terminal is closed.
    """

    def __init__(
        self,
        configure: Configure,
        listener: socket.socket,
        metrics: Metrics,
        *,
        count: int,
        ready: Callable[[], object],
        drain_seconds: float,
        in_terminal: bool,
    ) -> None:
        super().__init__(Config("", log_config=None), [listener])
        self._new = partial(Worker, configure, listener, drain_seconds)
        self._metrics = metrics
        self._count = count
        self._ready = ready
        self._drain_seconds = drain_seconds
        self._in_terminal = in_terminal
        self._workers: list[Worker] = []
        self._old: list[Worker] = []  # of those, the ones that are to be replaced
        self._retiring: list[Worker] = []
        self._has_served = self._is_complete = False  # once one of them serves, or all
        self._has_failed = self._is_hurried = False
        self._starts_from = 0.0

    def run(self) -> None:
        """Return when all workers have stopped.

        Raises:
            SystemExit: with code 1, no worker could serve.
        """
        super().run()
        for received in SIGNALS:
            # Python forgets its handlers before it has ended, and one more signal then would be the exit code.
            signal.signal(received, signal.SIG_IGN)
        if self._has_failed:
            raise SystemExit(1)

    # This is what uvicorn calls, all the time and at the end.

    def init_processes(self) -> None:
        self._start()

    def keep_subprocess_alive(self) -> None:
        if self.should_exit.is_set():
            return
        self._look_after_all()
        serving = sum(worker.serves for worker in self._workers)
        self._has_served = self._has_served or serving > 0
        if serving == self._count and not self._is_complete:
            self._is_complete = True
            self._ready()
        # Those that were replaced may take long to finish; there are never more of them than of those that serve.
        if self._old and serving > self._count and len(self._retiring) < self._count:
            self._retire(self._old[0])
        self._start()

    def terminate_all(self) -> None:
        # First here, or else clients would be queued that nobody accepts.
        for listener in self.sockets:
            listener.close()
        for worker in (*self._workers, *self._retiring):
            self._stop(worker)

    def join_all(self) -> None:
        while self._workers or self._retiring:
            self.handle_signals()
            self._look_after_all()
            time.sleep(_TICK)

    # Signals.

    def handle_int(self) -> None:
        """Stop without draining; a second time, without waiting."""
        if self._is_hurried:
            for worker in (*self._workers, *self._retiring):
                worker.end()
        elif self.should_exit.is_set():
            self._is_hurried = True
            self.terminate_all()
        self._is_hurried = True
        self.should_exit.set()

    def handle_hup(self) -> None:
        if self._in_terminal:
            self.should_exit.set()
        else:
            self._old = [*self._workers]

    def handle_ttin(self) -> None:
        """Do nothing: uvicorn would start another worker."""

    handle_ttou = handle_ttin

    # Workers.

    def _start(self) -> None:
        """Start missing workers; the first alone, so that a failure of all of them is logged once."""
        wanted = self._count + bool(self._old) if any(worker.serves for worker in self._workers) else 1
        while len(self._workers) < wanted and time.monotonic() >= self._starts_from:
            try:
                worker = self._new()
                worker.start()
            except OSError as error:
                if not self._has_served:
                    raise
                log.warning("Cannot start a worker, and tries again: %s", error)
                self._starts_from = time.monotonic() + _START_PAUSE
            else:
                self._workers.append(worker)

    def _look_after_all(self) -> None:
        for worker in (*self._workers, *self._retiring):
            if not worker.look():
                worker.end()
                self._metrics.worker_ended(worker.pid or 0)
                self._handle_death(worker)

    def _handle_death(self, worker: Worker) -> None:
        if worker in self._retiring:
            self._retiring.remove(worker)
            return
        self._forget(worker)
        if self.should_exit.is_set():  # SIGTERM may have been sent to all processes
            return
        if worker.serves:
            log.warning("Worker %s died with exit code %s; starting another", worker.pid, worker.exitcode)
            self._metrics.worker_restarted()
            return
        if worker.exitcode != _CANNOT_START:
            log.critical("Cannot start: a worker ended with exit code %s before it served", worker.exitcode)
        if not self._has_served:
            self._has_failed = True
            self.should_exit.set()
        # It is tried again while others serve, and those that were to be replaced are better than none.
        self._old = []
        self._starts_from = time.monotonic() + _START_PAUSE

    def _retire(self, worker: Worker) -> None:
        self._forget(worker)
        self._retiring.append(worker)
        worker.stop(RETIRE, RETIREMENT)

    def _stop(self, worker: Worker) -> None:
        if self._is_hurried:
            worker.stop(signal.SIGINT if worker.serves else signal.SIGTERM, GRACE)
        else:
            worker.stop(signal.SIGTERM, self._drain_seconds + GRACE)

    def _forget(self, worker: Worker) -> None:
        self._workers.remove(worker)
        self._old = [old for old in self._old if old is not worker]


def _config_of(configure: Configure) -> Config:
    """Return the configuration of a worker, as soon as its database can be reached (contract K5).

    Raises:
        SystemExit: it cannot start for another reason; the log says why.
    """
    waited: StorageUnavailable | None = None
    while True:
        try:
            config = configure()
        except StorageUnavailable as error:
            if waited is None:
                why = error.cause
                log.warning("Cannot start yet, and tries again: %s: %s (%s); %s", error, why.text, why.code, why.cure)
            waited = error
            time.sleep(_START_PAUSE)
        except LogoAdminError as error:
            log.critical("Cannot start: %s", error)
            raise SystemExit(_CANNOT_START) from None
        except Exception:
            log.critical("Cannot start, by a fault of the program", exc_info=True)
            raise SystemExit(_CANNOT_START) from None
        else:
            if waited is not None:
                log.warning("The database at %s answers; starting", waited.server)
            return config


def _end_with_parent() -> None:
    """End this worker when its supervisor is gone, so that it does not keep the port."""
    parent = multiprocessing.parent_process()
    if parent is not None:
        parent.join()
        os.kill(os.getpid(), signal.SIGTERM)
        time.sleep(GRACE + 5)
        os._exit(1)

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

from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.server.graceful import GRACE, RETIRE, RETIREMENT, GracefulServer, Options
from logoadmin.ports.kernel.metrics import Metrics

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
        is_old: whether another one is to replace it.
        is_retiring: whether another one has replaced it.
    """

    def __init__(self, configure: Configure, listener: socket.socket, drain_seconds: float, *, is_first: bool) -> None:
        """Prepare it; if the first one cannot start, the service ends, and otherwise it goes on without this one."""
        self._configure, self._is_first = configure, is_first
        self._drain_seconds = drain_seconds
        self._ends_by = time.monotonic() + _SILENCE
        self.serves = self.is_old = self.is_retiring = False
        super().__init__(Config("", log_config=None), [listener])
        self.process.daemon = True  # a supervisor that fails ends its workers, and does not wait for them

    # In the worker.

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        """Serve in this process, until a signal or the end of the supervisor."""
        for name in {"SIGINT", "SIGHUP"} & signal.Signals.__members__.keys():  # a terminal sends them to everybody
            signal.signal(signal.Signals[name], signal.SIG_IGN)
        for run in (self.always_pong, _end_with_parent):
            threading.Thread(target=run, daemon=True).start()
        self._server = GracefulServer(
            _config_of(self._configure, is_first=self._is_first), self._drain_seconds, is_worker=True
        )
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
        options: how they serve.
        metrics: counts those that died.
        count: how many there are.
        ready: is called once all of them serve.
    """

    def __init__(
        self,
        configure: Configure,
        listener: socket.socket,
        options: Options,
        metrics: Metrics,
        *,
        count: int,
        ready: Callable[[], object],
    ) -> None:
        super().__init__(Config("", log_config=None), [listener])
        self._new = partial(Worker, configure, listener, options.drain_seconds)
        self._options = options
        self._metrics = metrics
        self._count = count
        self._ready = ready
        self._workers: list[Worker] = []
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
        current = self._current()
        serving = sum(worker.serves for worker in current)
        self._has_served = self._has_served or serving > 0
        if serving == self._count and not self._is_complete:
            self._is_complete = True
            self._ready()
        # Those that were replaced may take long to finish; there are never more of them than of those that serve.
        if serving > self._count and len(self._workers) - len(current) < self._count:
            for old in [worker for worker in current if worker.is_old][:1]:
                old.is_retiring = True
                old.stop(RETIRE, RETIREMENT)
        self._start()

    def terminate_all(self) -> None:
        # First here, or else clients would be queued that nobody accepts.
        for listener in self.sockets:
            listener.close()
        seconds = GRACE if self._is_hurried else self._options.drain_seconds + GRACE
        for worker in self._workers:
            worker.stop(signal.SIGINT if self._is_hurried and worker.serves else signal.SIGTERM, seconds)

    def join_all(self) -> None:
        while self._workers:
            self.handle_signals()
            self._look_after_all()
            time.sleep(_TICK)

    # Signals.

    def handle_int(self) -> None:
        """Stop without draining; a second time, without waiting."""
        if self._is_hurried:
            for worker in self._workers:
                worker.end()
        elif self.should_exit.is_set():
            self._is_hurried = True
            self.terminate_all()
        self._is_hurried = True
        self.should_exit.set()

    def handle_hup(self) -> None:
        if self._options.in_terminal:
            self.should_exit.set()
        for worker in self._workers:
            worker.is_old = True

    def handle_ttin(self) -> None:
        """Do nothing: uvicorn would start another worker."""

    handle_ttou = handle_ttin

    # Workers.

    def _current(self) -> list[Worker]:
        return [worker for worker in self._workers if not worker.is_retiring]

    def _start(self) -> None:
        """Start missing workers; the first alone, so that a failure of all of them is logged once."""
        current = self._current()
        wanted = self._count + any(worker.is_old for worker in current) if any(w.serves for w in current) else 1
        for _ in range(len(current), wanted):
            if time.monotonic() < self._starts_from:
                return
            try:
                worker = self._new(is_first=not self._has_served)
                worker.start()
            except OSError as error:
                if not self._has_served:
                    raise
                log.warning("Not ready yet, retrying: cannot start a worker: %s", error)
                self._starts_from = time.monotonic() + _START_PAUSE
            else:
                self._workers.append(worker)

    def _look_after_all(self) -> None:
        for worker in [worker for worker in self._workers if not worker.look()]:
            worker.end()
            self._workers.remove(worker)
            self._metrics.worker_ended(worker.pid or 0)
            if not worker.is_retiring and not self.should_exit.is_set():  # SIGTERM may have been sent to all processes
                self._handle_death(worker)

    def _handle_death(self, dead: Worker) -> None:
        if dead.serves:
            log.warning("Worker %s died with exit code %s; starting another", dead.pid, dead.exitcode)
            self._metrics.worker_restarted()
            return
        if dead.exitcode != _CANNOT_START:
            reason = f"a worker ended with exit code {dead.exitcode} before it served"
            _log_failure(reason, is_first=not self._has_served)
        if not self._has_served:
            self._has_failed = True
            self.should_exit.set()
        # It is tried again while others serve, and those that were to be replaced are better than none.
        for worker in self._workers:
            worker.is_old = False
        self._starts_from = time.monotonic() + _START_PAUSE


def _log_failure(reason: str, *, is_first: bool, exc_info: bool = False) -> None:
    """Log why a worker cannot start, which ends the service only before any worker has served."""
    if is_first:
        log.critical("Cannot start: %s", reason, exc_info=exc_info)
    else:
        log.warning("Not ready yet, retrying: %s", reason, exc_info=exc_info)


def _config_of(configure: Configure, *, is_first: bool) -> Config:
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
                log.warning("Not ready yet, retrying: %s: %s (%s); %s", error, why.text, why.code, why.cure)
            waited = error
            time.sleep(_START_PAUSE)
        except LogoAdminError as error:
            _log_failure(str(error), is_first=is_first)
            raise SystemExit(_CANNOT_START) from None
        except Exception:
            _log_failure("a fault of the program", is_first=is_first, exc_info=True)
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

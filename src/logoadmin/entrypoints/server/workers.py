"""Several processes that answer, and the one that looks after them (contract H1, H5)."""

import logging
import multiprocessing
import os
import signal
import socket
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from starlette.types import ASGIApp
from uvicorn.config import STARTUP_FAILURE, Config
from uvicorn.supervisors.multiprocess import Multiprocess, Process

from logoadmin.domain.errors import LogoAdminError
from logoadmin.entrypoints.log_lines import configure_logging

log = logging.getLogger("logoadmin.server")

GRACE: Final = 10  # seconds in which requests in flight are finished when the service stops
_PAUSE: Final = 1  # seconds between two tries to start a worker anew


@dataclass(frozen=True, slots=True)
class Worker:
    """What a worker process calls to get its application."""

    application: Callable[[], ASGIApp]
    log_level: str

    def __call__(self) -> ASGIApp:
        """Return the application, or end this process once the log says why not."""
        configure_logging(self.log_level)
        threading.Thread(target=_stop_with_parent, daemon=True).start()
        try:
            return self.application()
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


class Supervisor(Multiprocess):
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
        deadline = time.monotonic() + GRACE + 5
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

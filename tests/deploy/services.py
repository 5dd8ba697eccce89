"""Services that run in sequence or concurrently with a passed socket, and writers that keep asking them."""

import os
import signal
import socket
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

import pytest

from tests.deploy.nginx import SETTINGS, nginx
from tests.options import LONG
from tests.services import ROOT, Service, comes_true, start, workers_of
from tests.write_log import Address, writing

CLIENTS: Final = 8
# In total, at least, each with a read.
WRITES: Final = 2_500 if LONG else 200


def under_load(address: Address, token: str, meanwhile: Callable[[], None]) -> None:
    """Run ``meanwhile`` after a third of the writes, and continue until it and all writes are done.

    Fail if a request failed twice, the second time on a new connection, as browsers send it (RFC 9112 §9.3.1), or if a
    write was lost or doubled.
    """
    with writing([address], token, "w1", CLIENTS, repeats=1, reads=True) as log:
        comes_true(lambda: len(log.acknowledged) > WRITES // 3 or bool(log.wrong), 300)
        meanwhile()
        comes_true(lambda: len(log.acknowledged) >= WRITES or bool(log.wrong), 600)
    assert log.wrong == []
    assert log.compare(address, "w1") == (0, 0)


GALLERY: Final = ROOT / "tests/gallery.jsonl"
# As systemd does before it executes the program: sockets from descriptor 3 on, their number and the process id in the
# environment. With PR_SET_MDWE, if the system has it, as MemoryDenyWriteExecute= of the unit does.
_SYSTEMD: Final = """
import ctypes, fcntl, os, sys
sockets, program = [int(number) for number in sys.argv[1].split()], sys.argv[2:]
spare = [fcntl.fcntl(number, fcntl.F_DUPFD_CLOEXEC, 100) for number in sockets]
for place, number in enumerate(spare, 3):
    os.dup2(number, place)
ctypes.CDLL(None).prctl(65, 1, 0, 0, 0)
told = {"LISTEN_PID": str(os.getpid()), "LISTEN_FDS": str(len(sockets)), "LISTEN_FDNAMES": "logoadmin.socket"}
os.execve(sys.executable, [sys.executable, "-m", "logoadmin", *program], {**os.environ, **told})
"""


def start_with(sockets: list[socket.socket], directory: Path, *options: str) -> Service:
    numbers = [each.fileno() for each in sockets]
    given = " ".join(map(str, numbers))
    return start("-c", _SYSTEMD, given, "serve", *options, directory=directory, pass_fds=numbers)


class Services:
    """The services of one address, whose socket each of them gets.

    Attributes:
        running: all that were started.
        port: where they are reached.
    """

    def __init__(self, directory: Path, listener: socket.socket, workers: int) -> None:
        self.running: list[Service] = []
        self.port = int(listener.getsockname()[1])
        self._workers = workers
        self._directory = directory
        self._listener = listener

    def start(self) -> None:
        self.running.append(start_with([self._listener], self._directory, "--workers", str(self._workers)))
        assert self.running[-1].address

    def stop(self) -> None:
        self.running[-1].stop()

    def replace_workers(self) -> None:
        """Replace them twice, the second time with repeated signals."""
        service = self.running[0].process.pid
        for times in (1, 2):
            before = workers_of(service)
            for _ in range(times):
                os.kill(service, signal.SIGHUP)
            comes_true(partial(self._are_new, before))

    def _are_new(self, before: set[int]) -> bool:
        now = workers_of(self.running[0].process.pid)
        return len(now) == self._workers and not now & before

    def start_again(self) -> None:
        """Stop the service, wait, and start another one."""
        self.stop()
        self.start()


@contextmanager
def services(directory: Path, workers: int) -> Iterator[Services]:
    """Create an address for services; stop the remaining ones."""
    with socket.create_server(("127.0.0.1", 0), backlog=2048) as listener:
        made = Services(directory, listener, workers)
        try:
            yield made
        finally:
            for each in made.running:
                each.kill()


@contextmanager
def reached(front: str, directory: Path, port: int, monkeypatch: pytest.MonkeyPatch) -> Iterator[Address]:
    """Yield where services that start in the block are reached: themselves (``direct``), or through ``nginx``."""
    if front == "direct":
        yield Address(f"http://127.0.0.1:{port}", within=60)
        return
    for name, value in SETTINGS.items():
        monkeypatch.setenv(name, value)
    with nginx(directory, port) as proxy:
        yield proxy.address


def import_gallery(directory: Path, **environment: str) -> None:
    imported = start("-m", "logoadmin", "import", str(GALLERY), directory=directory, environment=environment)
    _, log = imported.process.communicate(timeout=180)
    assert imported.process.returncode == 0, log

"""The compared servers, each a separate process that listens on the loopback interface."""

import contextlib
import os
import re
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.mariadb import free_port

_READY_WITHIN: Final = 20.0
_STOPPED_WITHIN: Final = 10.0
_UVICORN: Final = ("--http", "httptools", "--loop", "uvloop", "--no-access-log", "--log-level", "warning")


@dataclass(frozen=True, slots=True)
class Server:
    """A process that serves HTTP."""

    port: int
    process_id: int

    def url(self, path: str) -> str:
        """Return the URL of a path."""
        return f"http://127.0.0.1:{self.port}{path}"

    def forget_peak_memory(self) -> int:
        """Return the current memory of the process in bytes, and restart tracking its peak."""
        Path(f"/proc/{self.process_id}/clear_refs").write_text("5")
        return self._status("VmRSS")

    def peak_memory(self) -> int:
        """Return the peak memory in bytes since then."""
        return self._status("VmHWM")

    def processor(self) -> float:
        """Return the processor seconds used by the process."""
        fields = Path(f"/proc/{self.process_id}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def _status(self, name: str) -> int:
        found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{self.process_id}/status").read_text())
        if found is None:
            raise LookupError(name)
        return int(found[1]) * 1024


@contextlib.contextmanager
def logoadmin(database: str, **settings: object) -> Iterator[Server]:
    """Serve a database with the command line, with settings by their names."""
    environment = {f"LOGOADMIN_{name.upper()}": str(value) for name, value in settings.items()}
    with _serving([sys.executable, "-m", "logoadmin", "serve"], LOGOADMIN_DATABASE=database, **environment) as server:
        yield server


@contextlib.contextmanager
def without(part: str, database: str) -> Iterator[Server]:
    """Serve a database in the same way, without a part of the service that ``without.py`` switches off."""
    with _serving([sys.executable, "-m", "benchmarks.without", part, "serve"], LOGOADMIN_DATABASE=database) as server:
        yield server


@contextlib.contextmanager
def uvicorn(application: str, **environment: str) -> Iterator[Server]:
    """Serve another application with the same server as logoadmin."""
    with _serving([sys.executable, "-m", "uvicorn", application, *_UVICORN], **environment) as server:
        yield server


@contextlib.contextmanager
def _serving(command: list[str], **environment: str) -> Iterator[Server]:
    port = free_port()
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1", "--port", str(port)],
        stdout=subprocess.DEVNULL,
        # Only the access log is long, and the cost of reading it is not measured.
        stderr=subprocess.DEVNULL if environment.get("LOGOADMIN_LOG_LEVEL") == "info" else None,
        env={**os.environ, **environment},
    )
    try:
        _wait_for(process, port)
        yield Server(port, process.pid)
    finally:
        _stop(process)


def _wait_for(process: subprocess.Popen[bytes], port: int) -> None:
    """Wait until it responds with any status, since a supervisor listens before its workers exist."""
    deadline = time.monotonic() + _READY_WITHIN
    while process.poll() is None and time.monotonic() < deadline:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), _READY_WITHIN) as connection:
            connection.sendall(b"GET / HTTP/1.0\r\n\r\n")
            if connection.recv(1):
                return
        time.sleep(0.02)
    raise RuntimeError(f"{process.args!r} does not answer")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(_STOPPED_WITHIN)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()

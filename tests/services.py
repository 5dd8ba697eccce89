"""Services for tests, in a separate process or in a thread."""

import http.client
import json
import os
import signal
import socket
import ssl
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from functools import cached_property
from pathlib import Path
from typing import IO, Any, Final, NamedTuple

import uvicorn
from starlette.types import ASGIApp

ROOT: Final = Path(__file__).parents[1]
# How long starting and stopping may take on a busy machine, in seconds.
_PATIENCE: Final = 90


def comes_true(
    tells: Callable[[], bool], within: float = _PATIENCE, *, despite: Sequence[type[Exception]] = ()
) -> None:
    """Wait at most ``within`` seconds until a condition is true; ``despite`` are errors that it may raise before."""
    deadline = time.monotonic() + within
    while True:
        with suppress(*despite):
            if tells():
                return
        assert time.monotonic() < deadline
        time.sleep(0.02)


class Answer(NamedTuple):
    """The response of a service or its proxy."""

    status: int
    headers: http.client.HTTPMessage
    body: bytes


def ask(port: int, trusted: Path | None, method: str, path: str, body: Any = None, **headers: str) -> Answer:
    """Make a request to this machine; with TLS, if a certificate is to be trusted, and a dictionary as JSON."""
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    if isinstance(body, dict):
        body, named = json.dumps(body), {"Content-Type": "application/json", **named}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=300)
    if trusted is not None:
        context = ssl.create_default_context(cafile=str(trusted))
        connection = http.client.HTTPSConnection("127.0.0.1", port, timeout=300, context=context)
    with closing(connection):
        connection.request(method, path, body, named)
        answer = connection.getresponse()
        return Answer(answer.status, answer.headers, answer.read())


class Service:
    """A process that serves or is starting.

    Attributes:
        process: the process.
        printed: the lines it printed before it listened.
    """

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self.process = process
        self.printed: list[str] = []

    @cached_property
    def address(self) -> str:
        """The address that it prints at the end of a line; waits until it listens."""
        while line := self.line():
            if line.startswith(("http://", "logoadmin listens on")):
                return line.split()[-1]
            self.printed.append(line)
        raise AssertionError(f"it does not serve: {self.process.communicate(timeout=_PATIENCE)}")

    def line(self) -> str:
        """Return the next line it prints, empty if it has ended."""
        assert self.process.stdout is not None
        guard = threading.Timer(_PATIENCE, self.process.kill)
        guard.start()
        try:
            return self.process.stdout.readline()
        finally:
            guard.cancel()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self.address.rpartition(":")[2])

    def stop(self, how: signal.Signals = signal.SIGTERM) -> None:
        """Send a signal, and wait until the process ends as it should."""
        self.process.send_signal(how)
        _, log = self.process.communicate(timeout=_PATIENCE)
        assert self.process.returncode == (-how if how == signal.SIGKILL else 0), log

    def kill(self) -> None:
        """Kill the process."""
        self.process.kill()
        self.process.communicate(timeout=_PATIENCE)


def start(
    *arguments: str,
    directory: Path | None = None,
    log: IO[str] | int | None = subprocess.PIPE,
    stdin: int | None = None,
    pass_fds: Sequence[int] = (),
    environment: Mapping[str, str] | None = None,
) -> Service:
    """Start Python with arguments and with standard error going to ``log``."""
    path = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    variables = {**os.environ, "PYTHONPATH": path, **(environment or {})}
    streams: Any = {"stdin": stdin, "stdout": subprocess.PIPE, "stderr": log}
    command = [sys.executable, *arguments]
    return Service(subprocess.Popen(command, cwd=directory, env=variables, pass_fds=pass_fds, text=True, **streams))


@contextmanager
def service(directory: Path, *options: str, log: IO[str] | int | None = None, **environment: str) -> Iterator[Service]:
    """Run ``logoadmin serve`` in a directory, by default on a free port; terminate it at the end."""
    command = ("-m", "logoadmin", "serve", "--port", "0", *options)
    started = start(*command, directory=directory, log=log, environment=environment)
    try:
        assert started.address
        yield started
    finally:
        started.process.terminate()
        started.process.communicate(timeout=_PATIENCE)


def start_application(kind: str, directory: Path | None = None, **settings: Any) -> Service:
    """Start one of the applications of :mod:`tests.entrypoints.served`, with settings that replace the defaults."""
    defaults = {"workers": 1, "log_level": "warning", "host": "127.0.0.1", "trusted_proxies": "", "root_path": ""}
    values = (defaults | {"drain_seconds": 5} | settings).values()
    return start("-m", "tests.entrypoints.served", kind, *map(str, values), directory=directory)


@contextmanager
def in_thread(app: ASGIApp, port: int = 0, **options: Any) -> Iterator[str]:
    """Serve an application in a thread of this process, on any free port by default; yield its address."""
    config = uvicorn.Config(app, ws="none", log_level="critical", timeout_graceful_shutdown=1, **options)
    server = uvicorn.Server(config)
    with socket.create_server(("127.0.0.1", port)) as listener:
        thread = threading.Thread(target=server.run, args=([listener],), daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            server.should_exit = True
            thread.join(10)


def workers_of(service: int) -> set[int]:
    """Return the worker processes of a service."""
    found = set()
    for child in Path(f"/proc/{service}/task/{service}/children").read_text().split():
        with suppress(OSError):
            if "spawn_main" in Path(f"/proc/{child}/cmdline").read_text():
                found.add(int(child))
    return found

"""Services that run in sequence or concurrently with a passed socket, and clients that keep asking them."""

import http.client
import itertools
import json
import os
import signal
import socket
import ssl
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

import pytest

from tests.deploy.nginx import PREFIX, SETTINGS, nginx
from tests.options import LONG
from tests.services import ROOT, Service, comes_true, start, workers_of

# How often the service may ask for a retry, and the response of a proxy that cannot reach it.
BUSY: Final = 10
AWAY: Final = b"The service is unreachable"

Request = tuple[str, str, dict[str, Any] | None]

CLIENTS: Final = 8
# Per client, at least; 10,000 in total for a release.
REQUESTS: Final = 1250 if LONG else 100


class Load:
    """Sends requests to a port of this machine, reads and writes in turns; with TLS if a certificate is given.

    A request whose connection ends without an answer is sent once more on a new one, as browsers do (RFC 9112 §9.3.1);
    so is one for which the database had too much to do, as on a machine that has. The writes have an
    ``Idempotency-Key``; after each of them the client reads what it made.

    Attributes:
        asked: how many requests were answered; failed: what did not go well.
        acknowledged: the user_id of each author that was made.
    """

    def __init__(self, port: int, prefix: str = "", certificate: Path | None = None, token: str | None = None) -> None:
        self.asked = 0
        self.failed: list[str] = []
        self.acknowledged: list[int] = []
        self._port = port
        self._prefix = prefix
        self._trust = ssl.create_default_context(cafile=str(certificate)) if certificate else None
        self._headers = {"Content-Type": "application/json"} | ({"Authorization": f"Bearer {token}"} if token else {})
        self._changed = threading.Condition()
        self._is_over = threading.Event()

    def run(self, meanwhile: Callable[[], None]) -> None:
        """Run ``meanwhile`` after a third of the requests, and continue until it and all requests are done."""
        with ThreadPoolExecutor(CLIENTS) as executor:
            asking = [executor.submit(self._ask, number) for number in range(CLIENTS)]
            try:
                with self._changed:
                    assert self._changed.wait_for(lambda: self.asked > CLIENTS * REQUESTS // 3, timeout=120)
                meanwhile()
            finally:
                self._is_over.set()
            for future in asking:
                future.result()

    def verify(self) -> None:
        """Fail if a request failed, if there were too few, or if a write was lost or doubled."""
        assert self.failed == []
        assert self.asked >= CLIENTS * REQUESTS
        with closing(self._connection()) as connection:
            status, body = self._answer(connection, "GET", "/api/authors", None)
        found = Counter(author["user_id"] for author in json.loads(body))
        assert (status, set(self.acknowledged) - found.keys(), max(found.values())) == (200, set(), 1)

    def _ask(self, client: int) -> None:
        made: bytes | None = None
        with closing(self._connection()) as connection:
            for number in itertools.count():
                if number >= REQUESTS and self._is_over.is_set():
                    return
                method, path, body = self._request(client, number, made)
                for _ in range(BUSY):
                    status, answer = self._answer(connection, method, path, body)
                    if status != 503 or AWAY in answer:
                        break
                    time.sleep(1)  # Retry-After
                with self._changed:
                    if status not in (200, 201) or made not in (None, answer):
                        self.failed.append(f"{method} {path}: {status} {answer!r}")
                    elif body:
                        self.acknowledged.append(body["user_id"])
                    self.asked += 1
                    self._changed.notify_all()
                made = answer if body and status == 201 else None

    def _request(self, client: int, number: int, made: bytes | None) -> Request:
        if made is not None:
            return "GET", f"/api/authors/{json.loads(made)['author_id']}", None
        if number % 4:
            return "GET", f"/api/logos/{1001 + number % 20}", None
        user_id = 100_000 * (client + 1) + number
        return "POST", "/api/authors", {"user_id": user_id, "username": f"author {user_id}"}

    def _answer(self, connection: http.client.HTTPConnection, method: str, path: str, body: Any) -> tuple[int, bytes]:
        """Return the status and the body of a response; 0 and the error if there is none, even at the second try."""
        headers = {**self._headers, "Idempotency-Key": f"key-{body['user_id']}"} if body else self._headers
        failed = b""
        for _ in range(2):
            try:
                connection.request(method, self._prefix + path, json.dumps(body) if body else None, headers)
                answer = connection.getresponse()
                return answer.status, answer.read()
            except (http.client.HTTPException, OSError) as error:
                failed = repr(error).encode()
                connection.close()  # the next request opens another one
        return 0, failed

    def _connection(self) -> http.client.HTTPConnection:
        if self._trust is None:
            return http.client.HTTPConnection("127.0.0.1", self._port, timeout=60)
        return http.client.HTTPSConnection("127.0.0.1", self._port, timeout=60, context=self._trust)


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
    """Start a service with these sockets."""
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
        """Start a service and wait until it serves."""
        self.running.append(start_with([self._listener], self._directory, "--workers", str(self._workers)))
        assert self.running[-1].address

    def stop(self) -> None:
        """Stop the newest service."""
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
def load_on(front: str, directory: Path, *ports: int) -> Iterator[Load]:
    """Send requests to the services (``direct``), or through ``nginx``."""
    if front == "direct":
        (port,) = ports
        yield Load(port)
    else:
        with nginx(directory, *ports) as proxy:
            yield Load(proxy.https, PREFIX, proxy.certificate)


def behind(front: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the environment of the services."""
    for name, value in SETTINGS.items() if front == "nginx" else ():
        monkeypatch.setenv(name, value)


def import_gallery(directory: Path, **environment: str) -> None:
    """Import tests/gallery.jsonl into the database that the environment names, or into a file."""
    imported = start("-m", "logoadmin", "import", str(GALLERY), directory=directory, environment=environment)
    _, log = imported.process.communicate(timeout=180)
    assert imported.process.returncode == 0, log

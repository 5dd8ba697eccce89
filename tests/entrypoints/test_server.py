"""Serving: the address, signals, several processes and the log. Each server is a separate process."""

import http.client
import os
import re
import signal
import socket
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from logoadmin.domain.kernel.errors import StartError
from logoadmin.entrypoints.server import listen
from tests.services import Service, ask, comes_true, start_application, workers_of

pytestmark = pytest.mark.slow("processes are started, stopped and killed")

ACCESS = re.compile(r"\S+ INFO \d+ logoadmin\.access: (.*) \d+\.\d ms 127\.0\.0\.1 \S+ http://\S+")


class Served(Service):
    """A server in another process, and what it says."""

    def says(self) -> str:
        """Return the next line of its log."""
        assert self.process.stderr is not None
        return self.process.stderr.readline().rstrip()

    def get(self, path: str = "/", **headers: str) -> tuple[int, bytes]:
        answer = ask(self.port, None, "GET", path, Authorization="Bearer secret-token", **headers)
        return answer.status, answer.body

    def answers(self) -> bool:
        try:
            return self.get()[0] == 200
        except OSError:
            return False

    def workers(self, count: int) -> set[int]:
        """Return the numbers of the processes that answer, once `count` do."""
        found: set[int] = set()
        deadline = time.monotonic() + 90
        while len(found) < count and time.monotonic() < deadline:
            found.add(int(self.get()[1]))
        assert len(found) == count
        return found

    def end(self, how: int = signal.SIGTERM) -> tuple[int, list[str]]:
        self.process.send_signal(how)
        return self.ended()

    def ended(self) -> tuple[int, list[str]]:
        _, log = self.process.communicate(timeout=60)
        return self.process.returncode, log.splitlines()


Serve = Callable[..., Served]


@pytest.fixture
def served(tmp_path: Path) -> Iterator[Serve]:
    services: list[Served] = []

    def start(kind: str = "", **settings: Any) -> Served:
        services.append(Served(start_application(kind, tmp_path, **settings).process))
        return services[-1]

    yield start
    for service in services:
        service.kill()


# The address.


@pytest.mark.rule("contract H1")
@pytest.mark.parametrize(
    ("host", "port", "words"),
    [
        ("127.0.0.1", None, "Port {port} on 127.0.0.1 is in use; stop what listens there, perhaps logoadmin itself, "),
        ("192.0.2.1", 0, "192.0.2.1 is not an address of this machine; use one that is, such as 127.0.0.1"),
        ("no such host", 0, "Cannot resolve host 'no such host'; use a name or an address of this machine"),
        ("127.0.0.1", 80, "Port 80 is only for privileged users; use a port above 1023"),
    ],
)
def test_an_unusable_address_is_reported_with_its_remedy(
    monkeypatch: pytest.MonkeyPatch, host: str, port: int | None, words: str
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    with socket.create_server(("127.0.0.1", 0)) as taken:
        used = taken.getsockname()[1]
        if port == 80:  # tests may run as root
            monkeypatch.setattr(socket.socket, "bind", refuse)
        with pytest.raises(StartError, match=f"^{re.escape(words.format(port=used))}"):
            listen(host, used if port is None else port)


# Stopping.


@pytest.mark.rule("contract H1", "contract K5")
@pytest.mark.parametrize(("workers", "how"), [(1, signal.SIGTERM), (1, signal.SIGINT), (2, signal.SIGTERM)])
def test_a_signal_ends_requests_and_accepts_no_others(served: Serve, tmp_path: Path, workers: int, how: int) -> None:
    server = served(workers=workers)
    assert re.fullmatch(r"http://127\.0\.0\.1:[1-9]\d*", server.address)
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as slow:
        slow.sendall(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        comes_true((tmp_path / "held").exists)
        server.process.send_signal(how)
        comes_true(lambda: is_refused(server))
        (tmp_path / "held").unlink()
        received = b""
        while part := slow.recv(1000):
            received += part
    assert received.startswith(b"HTTP/1.1 200 ")
    assert server.ended() == (0, [])


def is_refused(server: Served) -> bool:
    """Return whether nobody listens any more; a connection that is queued and never answered is not refused."""
    try:
        socket.create_connection(("127.0.0.1", server.port), timeout=10).close()
    except ConnectionRefusedError:
        return True
    return False


@pytest.mark.rule("contract K5")
@pytest.mark.parametrize("workers", [1, 2])
def test_unfinished_requests_are_cancelled_in_time(served: Serve, tmp_path: Path, workers: int) -> None:
    server = served(workers=workers, drain_seconds=1)
    with socket.create_connection(("127.0.0.1", server.port), timeout=30) as held:
        held.sendall(b"GET /held HTTP/1.1\r\nHost: a\r\n\r\n")
        comes_true((tmp_path / "held").exists)
        code, log = server.end()
        assert code == 0
        assert any("GET /held was cancelled: the service is stopping" in line for line in log)
        assert held.recv(1000).startswith(b"HTTP/1.1 503 ")


# Several processes.


@pytest.mark.rule("contract H1")
def test_a_worker_that_cannot_start_stops_everything(served: Serve) -> None:
    code, lines = served("wrong settings", workers=2).ended()
    assert code == 1
    said = re.compile("CRITICAL.*Cannot start: The database is of another version; run logoadmin init")
    assert any(map(said.search, lines))


@pytest.mark.rule("contract H5")
def test_a_worker_that_dies_is_replaced_and_none_outlives_its_parent(served: Serve) -> None:
    server = served(workers=2)
    first = int(server.get()[1])
    os.kill(first, signal.SIGKILL)
    comes_true(lambda: first not in workers_of(server.process.pid))
    assert first not in server.workers(2)
    server.process.kill()
    comes_true(lambda: not server.answers(), 25)  # the third may still be starting


NOT_READY_YET = "Not ready yet, retrying: db.example:3306: no database server responds there (out_of_reach)"
STARTS = "The database at db.example:3306 responds; starting"


@pytest.mark.rule("contract K5")
@pytest.mark.parametrize("hangs_up", [False, True])
def test_a_worker_waits_for_its_database_and_the_service_with_it(served: Serve, tmp_path: Path, hangs_up: bool) -> None:
    server = served("goes away", workers=2)
    assert NOT_READY_YET in server.says()
    if hangs_up:
        server.process.send_signal(signal.SIGHUP)
    (tmp_path / "away").unlink()
    assert STARTS in server.says()
    server.workers(2)
    assert server.end() == (0, [])


@pytest.mark.rule("contract K5")
def test_sighup_replaces_workers_one_by_one_without_a_failed_request(served: Serve) -> None:
    server = served(workers=2)
    before = server.workers(2)
    for worker in before:  # like a closing terminal
        os.kill(worker, signal.SIGHUP)
    assert server.workers(2) == before

    def answering() -> int:
        # Clients retry once on a closed connection (RFC 9112 §9.3.1).
        with suppress(OSError, http.client.HTTPException):
            return int(server.get()[1])
        return int(server.get()[1])

    server.process.send_signal(signal.SIGHUP)
    latest: set[int] = set()
    with ThreadPoolExecutor(4) as clients:
        deadline = time.monotonic() + 90
        while latest & before or len(latest) < 2:
            assert time.monotonic() < deadline
            latest = set(clients.map(lambda _: answering(), range(40)))
    assert server.end() == (0, [])


@pytest.mark.rule("contract K5")
def test_a_single_process_logs_what_to_use_instead_of_sighup_and_goes_on(served: Serve) -> None:
    server = served()
    before = server.workers(1)
    server.process.send_signal(signal.SIGHUP)
    assert "SIGHUP replaces workers, and a single process has none: use --workers 2" in server.says()
    assert server.workers(1) == before
    assert server.end() == (0, [])


@pytest.mark.rule("contract H5", "contract K5")
def test_a_frozen_worker_is_replaced_without_stopping_others(served: Serve) -> None:
    server = served(workers=2)
    frozen, _ = server.workers(2)
    os.kill(frozen, signal.SIGSTOP)
    comes_true(lambda: frozen not in workers_of(server.process.pid))
    assert frozen not in server.workers(2)
    assert server.end()[0] == 0


# Behind a proxy.


@pytest.mark.rule("contract C1", "contract H5")
@pytest.mark.parametrize("workers", [1, 2])
def test_every_process_trusts_the_proxy_and_knows_the_prefix(served: Serve, workers: int) -> None:
    server = served(workers=workers, trusted_proxies="127.0.0.0/8", root_path="/gallery")
    answered: set[str] = set()
    deadline = time.monotonic() + 60
    while len(answered) < workers and time.monotonic() < deadline:
        body = server.get("/origin", X_Forwarded_For="203.0.113.9, 198.51.100.7", X_Forwarded_Proto="https")[1]
        process, _, origin = body.decode().partition(" ")
        assert origin == "198.51.100.7 https /gallery/origin"
        answered.add(process)
    assert len(answered) == workers
    assert server.get("/origin")[1].decode().partition(" ")[2] == "127.0.0.1 http /gallery/origin"
    assert server.end() == (0, [])


# The log.


@pytest.mark.rule("contract A21", "contract E1")
def test_each_request_and_each_fault_is_a_line_without_secrets(served: Serve) -> None:
    server = served(log_level="info")
    server.get("/a?password=secret")
    server.get("/%1b%5b31m%0aforged")
    with socket.create_connection(("127.0.0.1", server.port), timeout=10) as client:
        client.sendall(b"nonsense\r\n\r\n")
        assert client.recv(1000).startswith(b"HTTP/1.1 400 ")
    with pytest.raises(http.client.IncompleteRead):
        server.get("/broken")
    code, lines = server.end()
    assert code == 0
    found = [match[1] for match in map(ACCESS.fullmatch, lines) if match]
    assert found == ["GET /a 200", r"GET /\x1b[31m\nforged 200", "GET /broken 200 out_of_reach"]
    assert any(line.endswith("uvicorn.error: Invalid HTTP request received.") for line in lines)
    (warning,) = (line for line in lines if " WARNING " in line and "uvicorn" not in line)
    assert warning.endswith("GET /broken broke off: db.example:3306: no database server responds there (out_of_reach)")
    assert "secret" not in "".join(lines)

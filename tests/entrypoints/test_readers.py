"""How little memory a real service uses for slow readers and for an import of the largest size."""

import json
import re
import socket
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

import logoadmin
from tests.gallery import ARTWORK
from tests.options import LONG
from tests.services import Service, ask, service

pytestmark = [
    pytest.mark.slow("a process takes 64 MiB"),
    pytest.mark.rule("contract E1", "contract H4", "contract I4"),
    pytest.mark.skipif(
        not Path("/proc/self/clear_refs").exists(), reason="the system does not report the peak memory of a process"
    ),
]

KIB: Final = 1024
MIB: Final = 1024 * KIB
READERS: Final = 300 if LONG else 20


@pytest.fixture
def heavy(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """A service on a gallery of logos of a megabyte: the process and its port."""
    url = f"sqlite:///{tmp_path}/heavy.db"
    with logoadmin.connect(url) as gallery:
        for number in range(20):
            logo = {**ARTWORK, "name": f"{number}", "custom_css": "\U0001f3a8" * 262_144}
            gallery.logos.create(logoadmin.CreateLogo(**logo))
    with service(tmp_path, "--database", url) as served:
        yield served.process.pid, served.port


def resident(process_id: int, name: str) -> int:
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{process_id}/status").read_text())
    assert found is not None
    return int(found[1]) * KIB


@pytest.mark.parametrize("path", ["/api/logos", "/api/logos?limit=1000", "/api/logos/1"])
def test_readers_of_large_records_use_little_memory(heavy: tuple[int, int], path: str) -> None:
    process_id, port = heavy
    before = resident(process_id, "VmRSS")
    with ExitStack() as stack:
        for _ in range(READERS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        # What all of them share is 32 MiB, and while it is made, it is there twice; one each would be 640 MiB.
        assert resident(process_id, "VmHWM") - before < READERS * 256 * KIB + 96 * MIB


# An import, during which others are served (contract I4).

PASSWORD: Final = "correct horse battery"
CSS: Final = "a { color: red } " * 1900  # 32 KB


class Client:
    """An administrator who asks a service in another process."""

    def __init__(self, served: Service) -> None:
        self.process_id, self._port = served.process.pid, served.port
        _, signed_in = self.ask("POST", "/api/auth/token", {"username": "admin", "password": PASSWORD})
        self.token = signed_in["access_token"]

    token = ""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Send JSON, or lines from a file; return the status and the response."""
        headers = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if hasattr(body, "read"):
            headers["Content_Type"] = "application/jsonl"
        answer = ask(self._port, None, method, path, body, **headers)
        return answer.status, json.loads(answer.body)


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with service(tmp_path, log=subprocess.DEVNULL, LOGOADMIN_ADMIN_PASSWORD=PASSWORD) as served:
        yield Client(served)


def write_lines(path: Path, *, good: bool = True, size: int = 64 * MIB) -> int:
    """Write up to `size` bytes of lines: logos with much CSS, and their authors; return their number."""
    lines, written = 0, 0
    with path.open("w") as file:
        while True:
            number = lines // 2
            logo = {"kind": "logo", "logo_id": number, **ARTWORK, "custom_css": CSS, "author_ids": [number]}
            author = {"kind": "author", "author_id": number, "user_id": number, "username": f"{number}"}
            line = json.dumps(author if lines % 2 else logo | ({} if good else {"name": ""})) + "\n"
            written += len(line)
            if written > size:
                return lines - lines % 2
            file.write(line)
            lines += 1


def measured(client: Client, path: Path) -> tuple[int, Any, int]:
    """Import a file; return the status, the response, and the peak growth of memory."""
    Path(f"/proc/{client.process_id}/clear_refs").write_text("5")
    before = resident(client.process_id, "VmRSS")
    with path.open("rb") as file:
        status, answer = client.ask("POST", "/api/import", file)
    return status, answer, resident(client.process_id, "VmHWM") - before


@pytest.mark.parametrize("good", [True, pytest.param(False, marks=pytest.mark.release)])
def test_an_import_of_64_mib_uses_no_more_memory_than_that(client: Client, tmp_path: Path, good: bool) -> None:
    write_lines(tmp_path / "small.jsonl", size=100_000)
    assert measured(client, tmp_path / "small.jsonl")[0] == 200  # loads the code before memory is measured
    lines = write_lines(tmp_path / "large.jsonl", good=good)
    assert (tmp_path / "large.jsonl").stat().st_size > 63 * MIB
    status, answer, rose = measured(client, tmp_path / "large.jsonl")
    if good:
        assert (status, answer["logo"]["created"] + answer["logo"]["unchanged"]) == (200, lines // 2)
    else:
        assert (status, len(answer["detail"])) == (422, lines // 2)
    assert rose < 64 * MIB


def test_other_requests_are_served_during_an_import(client: Client, tmp_path: Path) -> None:
    write_lines(tmp_path / "large.jsonl")
    done: list[int] = []
    importing = threading.Thread(target=lambda: done.append(measured(client, tmp_path / "large.jsonl")[0]))
    importing.start()
    reads: list[float] = []
    writes: list[tuple[int, float]] = []
    number = 1_000_000
    while importing.is_alive():
        start = time.monotonic()
        assert client.ask("GET", "/api/authors?limit=10")[0] == 200
        reads.append(time.monotonic() - start)
        number += 1
        start = time.monotonic()
        status, _ = client.ask("POST", "/api/authors", {"user_id": number, "username": f"{number}"})
        writes.append((status, time.monotonic() - start))
    importing.join()
    assert done == [200]
    assert max(reads) < 1
    assert len(reads) > 3
    assert {status for status, _ in writes} <= {201, 503}
    assert max(spent for _, spent in writes) < 3

"""An import of the largest size into a real service, which answers others meanwhile (contract I4)."""

import http.client
import json
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import pytest

from tests.entrypoints.test_readers import MIB, resident
from tests.gallery import ARTWORK
from tests.services import Service, service

pytestmark = [
    pytest.mark.slow("a process takes 64 MiB"),
    pytest.mark.rule("contract I4"),
    pytest.mark.skipif(
        not Path("/proc/self/clear_refs").exists(), reason="the system does not report the peak memory of a process"
    ),
]

PASSWORD: Final = "correct horse battery"
CSS: Final = "a { color: red } " * 1900  # 32 KB


class Client:
    """A client of a service in another process."""

    def __init__(self, served: Service) -> None:
        self.process_id = served.process.pid
        self.port = served.port
        signed_in = self.ask("POST", "/api/auth/token", {"username": "admin", "password": PASSWORD})
        self.token = signed_in[1]["access_token"]

    token = ""

    def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        """Ask with JSON, or with lines from a file; return the status and the answer."""
        is_file = hasattr(body, "read")
        headers = {"Content-Type": "application/jsonl" if is_file else "application/json"}
        if self.token:
            headers["Authorization"] = f"Bearer {self.token}"
        with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=300)) as connection:
            connection.request(method, path, body if is_file else json.dumps(body), headers)
            answer = connection.getresponse()
            return answer.status, json.loads(answer.read())


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

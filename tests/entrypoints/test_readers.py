"""Slow readers: how little memory a real service uses for them."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

import logoadmin
from tests.options import LONG
from tests.services import service

KIB: Final = 1024


# A real service, and real clients that stop reading.

READERS: Final = 300 if LONG else 20
MIB: Final = 1024 * KIB


@pytest.fixture
def heavy(tmp_path: Path) -> Iterator[tuple[int, int]]:
    """A service on a gallery of logos of a megabyte: the process and its port."""
    url = f"sqlite:///{tmp_path}/heavy.db"
    with logoadmin.connect(url) as gallery:
        for number in range(20):
            style = "\U0001f3a8" * 262_144
            gallery.logos.create(
                logoadmin.CreateLogo(name=f"{number}", preview_url="http://a", target="forum", custom_css=style)
            )
    with service(tmp_path, "--database", url) as served:
        yield served.process.pid, served.port


def resident(process_id: int, name: str) -> int:
    """Return how many bytes of memory a process has."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{process_id}/status").read_text())
    assert found is not None
    return int(found[1]) * KIB


@pytest.mark.slow("processes are started and stopped")
@pytest.mark.rule("contract E1", "contract H4")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not report the memory of a process")
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

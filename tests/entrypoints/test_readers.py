"""Clients that take their answers slowly: how much is held for them, and who is let go. Time is told, not passed."""

import asyncio
import heapq
import re
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final, cast

import pytest

import logoadmin
from logoadmin.entrypoints.server import listen
from logoadmin.entrypoints.server.protocol.bounds import Bounds
from logoadmin.entrypoints.server.protocol.readers import Reader
from logoadmin.entrypoints.server.serving import limit_unsent
from tests.options import LONG

KIB: Final = 1024


class Timer:
    def __init__(self, when: float, call: Callable[[], None]) -> None:
        self._when, self.call = when, call

    def when(self) -> float:
        return self._when

    def cancel(self) -> None:
        self.call = lambda: None


class Loop:
    """An event loop whose time is told."""

    def __init__(self) -> None:
        self.now = 0.0
        self._timers: list[tuple[float, int, Timer]] = []

    def time(self) -> float:
        return self.now

    def call_at(self, when: float, call: Callable[[], None]) -> Timer:
        timer = Timer(when, call)
        heapq.heappush(self._timers, (when, id(timer), timer))
        return timer

    def pass_by(self, seconds: float) -> None:
        end = self.now + seconds
        while self._timers and self._timers[0][0] <= end:
            self.now, _, timer = heapq.heappop(self._timers)
            timer.call()
        self.now = end


class Client:
    """A transport with a client behind it, who takes what it is told to; it speaks to the protocol as asyncio does."""

    def __init__(self) -> None:
        self.loop = Loop()
        self.held = self.most_held = self.high = 0
        self.is_gone = False
        self.reader = Reader(cast(asyncio.AbstractEventLoop, self.loop), Bounds, cast(asyncio.Transport, self))
        self._writable = asyncio.Event()
        self._writable.set()

    def set_write_buffer_limits(self, high: int) -> None:
        self.high = high

    def get_write_buffer_size(self) -> int:
        return self.held

    def abort(self) -> None:
        self.is_gone = True
        self._writable.set()

    async def send(self, message: Any) -> None:
        await self._writable.wait()
        if self.is_gone:
            return
        self.held += len(message.get("body", b""))
        self.most_held = max(self.held, self.most_held)
        if self.held > self.high and self._writable.is_set():
            self._writable.clear()
            self.reader.keeps_waiting()

    def take(self, size: int) -> None:
        self.held = max(0, self.held - size)
        if self.held <= self.high // 4 and not self._writable.is_set():
            self._writable.set()
            self.reader.goes_on()


async def reading(client: Client, size: int, rate: int, every: float) -> None:
    """Have a client take an answer at so many bytes a second, at once only every so many seconds."""
    answer = client.reader.pass_on(client.send, {"type": "http.response.body", "body": bytes(size)})
    task = asyncio.ensure_future(answer)
    while not client.is_gone and (not task.done() or client.held):
        client.loop.pass_by(every)
        await asyncio.sleep(0)
        left = int(rate * every)
        while left > 0 and (client.held or not task.done()) and not client.is_gone:
            taken = min(left, client.held)
            client.take(taken)
            left -= taken
            await asyncio.sleep(0)
            await asyncio.sleep(0)
    await task


@pytest.mark.rule("contract E1", "contract H4")
@pytest.mark.parametrize("rate", [8 * KIB, 10_000, 314_000])
@pytest.mark.parametrize("every", [0.25, 1, 8, 25])
def test_who_takes_8_kib_a_second_is_never_cut_off_however_long_the_answer(rate: int, every: float) -> None:
    client = Client()
    asyncio.run(reading(client, rate * 200, rate, every))
    assert (client.is_gone, client.held) == (False, 0)
    assert client.loop.now >= 200 - every


@pytest.mark.rule("contract H4")
@pytest.mark.parametrize("rate", [0, 1_000, 3_500])
def test_who_takes_much_less_is_let_go_in_the_second_minute_at_the_latest(rate: int) -> None:
    client = Client()
    asyncio.run(reading(client, 10_000_000, rate, 1))
    assert client.is_gone
    assert client.loop.now <= 121


@pytest.mark.rule("contract H4")
def test_who_reads_quickly_and_then_stops_is_let_go_too() -> None:
    client = Client()

    async def stopping() -> None:
        await reading(client, 5_000_000, 1_000_000, 0.25)
        await reading(client, 5_000_000, 0, 1)

    asyncio.run(stopping())
    assert client.is_gone


@pytest.mark.rule("contract H4")
def test_who_waits_for_the_server_keeps_nobody_waiting() -> None:
    client = Client()

    async def hourly() -> None:
        for _ in range(200):
            await reading(client, 20 * KIB, 100 * KIB, 0.25)
            client.loop.pass_by(3600)

    asyncio.run(hourly())
    assert not client.is_gone


@pytest.mark.rule("contract E1")
def test_little_of_an_answer_is_handed_on_before_it_is_taken() -> None:
    client = Client()
    asyncio.run(reading(client, 5_000_000, 100_000, 0.25))
    assert client.most_held <= 48 * KIB


def test_an_answer_in_slices_is_the_same_answer() -> None:
    client = Client()
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    body = bytes(range(256)) * 400

    async def answering() -> None:
        await client.reader.pass_on(send, {"type": "http.response.body", "body": body, "more_body": True})
        await client.reader.pass_on(send, {"type": "http.response.body", "body": body})

    asyncio.run(answering())
    assert b"".join(message["body"] for message in sent) == 2 * body
    assert [message.get("more_body", False) for message in sent] == [True] * 7 + [False]
    assert max(len(message["body"]) for message in sent) == 32 * KIB


@pytest.mark.rule("contract E1")
@pytest.mark.skipif(not hasattr(socket, "TCP_NOTSENT_LOWAT"), reason="the system has no such limit")
def test_the_system_holds_little_for_a_client_either() -> None:
    with listen("127.0.0.1", 0) as listener:
        limit_unsent(listener)
        with socket.create_connection(listener.getsockname()) as client:
            connection, _ = listener.accept()
            with connection:
                client.settimeout(5)
                assert connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_NOTSENT_LOWAT) == 64 * KIB


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
    process = subprocess.Popen(
        [sys.executable, "-m", "logoadmin", "serve", "--port", "0", "--database", url],
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert process.stdout is not None
        _console, listens = process.stdout.readline(), process.stdout.readline()
        said = re.search(r":(\d+)$", listens.strip())
        assert said is not None
        yield process.pid, int(said[1])
    finally:
        process.terminate()
        process.communicate(timeout=60)


def resident(process_id: int, name: str) -> int:
    """Return how many bytes of memory a process has."""
    found = re.search(rf"{name}:\s+(\d+) kB", Path(f"/proc/{process_id}/status").read_text())
    assert found is not None
    return int(found[1]) * KIB


@pytest.mark.slow("processes are started and stopped")
@pytest.mark.rule("contract E1", "contract H4")
@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="the system does not say what memory a process has")
@pytest.mark.parametrize("path", ["/api/logos", "/api/logos?limit=1000", "/api/logos/1"])
def test_readers_of_heavy_records_hold_little(heavy: tuple[int, int], path: str) -> None:
    process_id, port = heavy
    before = resident(process_id, "VmRSS")
    with ExitStack() as stack:
        for _ in range(READERS):
            client = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20))
            client.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
            assert client.recv(12) == b"HTTP/1.1 200"
        # What all of them share is 32 MiB, and while a part is made it is there a few times.
        assert resident(process_id, "VmHWM") - before < READERS * 256 * KIB + 64 * MIB

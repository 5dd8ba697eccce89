"""What clients may do to the server: BoundedProtocol on a real socket, with short limits so that no test waits long."""

import http.client
import json
import logging
import socket
import threading
import time
from asyncio import sleep
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send
from uvicorn.config import Config
from uvicorn.server import Server

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.entrypoints.http_api.limits import ClientLimits
from logoadmin.entrypoints.server.logs import LoggedRequests
from logoadmin.entrypoints.server.protocol import BoundedProtocol

pytestmark = pytest.mark.server("a server with sockets and its clocks")

HOST = b"Host: localhost\r\n"
HEAD = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
BODY = b"\r\n\r\n1\r\na\r\n0\r\n\r\n"
CLOSE = b"Connection: close\r\n"


class Hasty(BoundedProtocol):
    head_seconds = 0.4
    linger_seconds = 0.4
    stall_seconds = 0.4

    @classmethod
    def most_connections(cls) -> int:
        return 400


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def detail(self) -> str:
        content = json.loads(self.body)
        assert list(content) == ["detail"]
        assert self.headers["content-type"] == "application/json"
        assert int(self.headers["content-length"]) == len(self.body)
        assert self.headers["connection"] == "close"
        return str(content["detail"])


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the path and the size of the body; some paths do something else."""
    match scope["path"]:
        case "/early":
            await Response(b'{"detail":"no"}', 413, media_type="application/json")(scope, receive, send)
            return
        case "/talk":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"0")]})
            while (await receive())["more_body"]:
                pass
            await sleep(0.2)
            await send({"type": "http.response.body"})
            return
        case "/begun":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"4")]})
        case "/slow":
            await sleep(0.6)
        case "/fault":
            raise ValueError
        case "/host":
            await Response(dict(scope["headers"])[b"host"])(scope, receive, send)
            return
        case "/broken":
            await StreamingResponse(_breaking())(scope, receive, send)
            return
        case "/flood":
            await StreamingResponse(_flood())(scope, receive, send)
            return
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
        if size > 2_000_000:
            await Response(b'{"detail":"too large"}', 413, media_type="application/json")(scope, receive, send)
            return
    await Response(f"{scope['method']} {scope['path']} {size} {len(scope['headers'])}")(scope, receive, send)


async def _breaking() -> Any:
    yield b"[1"
    await sleep(0)
    raise StorageUnavailable("db.example:3306")


async def _flood() -> Any:
    while True:
        await sleep(0)
        yield bytes(65_536)


class Running:
    """A server in a thread of its own."""

    def __init__(self, protocol: type[BoundedProtocol]) -> None:
        config = Config(
            LoggedRequests(ClientLimits(app)),
            http=protocol,
            ws="none",
            lifespan="off",
            log_config=None,
            log_level="critical",
            access_log=False,
            server_header=False,
            timeout_keep_alive=1,
            timeout_graceful_shutdown=5,
        )
        self.server = Server(config)
        self.socket = socket.create_server(("127.0.0.1", 0), backlog=2048)
        self.address: tuple[str, int] = self.socket.getsockname()
        self.thread = threading.Thread(target=self.server.run, args=([self.socket],))
        self.thread.start()

    def stop(self) -> None:
        self.server.should_exit = True
        self.thread.join(20)
        assert not self.thread.is_alive()

    @contextmanager
    def http(self) -> Iterator[http.client.HTTPConnection]:
        connection = http.client.HTTPConnection(*self.address, timeout=5)
        try:
            yield connection
        finally:
            connection.close()

    @contextmanager
    def connected(self) -> Iterator[socket.socket]:
        with socket.create_connection(self.address, timeout=5) as client:
            yield client

    def ask(self, *parts: bytes, every: float = 0.0) -> list[Answer]:
        """Send parts and return all answers, until the server closes the connection."""
        with self.connected() as client:
            with suppress(OSError):  # the server may have closed in the meantime
                for part in parts:
                    client.sendall(part)
                    time.sleep(every)
            return answers(client)

    def refusal(self, *parts: bytes, every: float = 0.0) -> tuple[int, str]:
        """Return status and text of the one answer, which must have the form of the server's own."""
        (answer,) = self.ask(*parts, every=every)
        return answer.status, answer.detail


def answers(client: socket.socket) -> list[Answer]:
    received = b""
    while part := client.recv(65_536):
        received += part
    found = []
    while received:
        head, _, received = received.partition(b"\r\n\r\n")
        first, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in lines)}
        size = int(headers.get("content-length", 0))
        found.append(Answer(int(first.split()[1]), headers, received[:size]))
        received = received[size:]
    return found


@pytest.fixture(scope="module")
def running() -> Iterator[Running]:
    running = Running(Hasty)
    yield running
    running.stop()


def resident() -> int:
    """Return how many bytes of memory this process has."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096


# Slow and silent clients.


@pytest.mark.rule("contract H4")
def test_the_limits_are_those_of_the_contract() -> None:
    limits = BoundedProtocol
    assert (limits.head_seconds, limits.head_bytes) == (5, 32_768)


@pytest.mark.rule("contract H4", "contract A21")
@pytest.mark.parametrize(
    "sent", [b"", b"\r\n", b"G", b"GET / HTTP/1.1\r\nHost: a\r\nX-Half"], ids=["silent", "empty line", "byte", "half"]
)
def test_a_head_that_does_not_come_is_a_408(running: Running, sent: bytes) -> None:
    start = time.monotonic()
    assert running.refusal(sent) == (408, "The head of the request did not arrive in time")
    assert 0.3 < time.monotonic() - start < 2


@pytest.mark.rule("contract A21")
def test_of_an_answer_that_is_broken_off_the_client_has_what_there_was(running: Running) -> None:
    (answer,) = running.ask(b"POST /begun HTTP/1.1\r\n" + HOST + CHUNKED, b"no chunk\r\n", every=0.1)
    assert (answer.status, answer.headers["content-length"], answer.body) == (200, "4", b"")


@pytest.mark.rule("contract H4")
def test_a_slow_answer_is_not_the_clients_fault(running: Running) -> None:
    half = b"GET / HTTP/1.1\r\nHo"
    with running.connected() as client:
        client.sendall(b"GET /slow HTTP/1.1\r\n" + HOST + b"\r\n" + half)
        first, second = answers(client)
    assert (first.status, first.body) == (200, b"GET /slow 0 1")
    assert (second.status, second.detail) == (408, "The head of the request did not arrive in time")


@pytest.mark.rule("contract H4")
def test_an_idle_connection_is_kept_for_a_while_and_closed_without_a_word(running: Running) -> None:
    start = time.monotonic()
    found = running.ask(b"GET / HTTP/1.1\r\n" + HOST + b"\r\n", *[b"\r\n"] * 5, every=0.2)
    assert [answer.status for answer in found] == [200]
    assert 0.9 < time.monotonic() - start < 2.5


@pytest.mark.rule("contract H4")
def test_the_longest_silent_make_room_for_others(running: Running) -> None:
    busy = socket.create_connection(running.address, timeout=5)
    busy.sendall(b"GET /slow HTTP/1.0\r\n\r\n")
    idle = [socket.create_connection(running.address, timeout=5) for _ in range(800)]
    try:
        assert running.ask(b"GET / HTTP/1.0\r\n\r\n")[0].status == 200
        assert len(running.server.server_state.connections) <= 400
        assert answers(busy)[0].status == 200
    finally:
        for client in (busy, *idle):
            client.close()


@pytest.mark.rule("contract H4")
def test_a_client_that_never_reads_is_let_go(running: Running) -> None:
    with running.connected() as client:
        client.sendall(b"GET /flood HTTP/1.1\r\n" + HOST + b"\r\n")
        deadline = time.monotonic() + 5
        while not running.server.server_state.tasks and time.monotonic() < deadline:
            time.sleep(0.01)
        while running.server.server_state.tasks and time.monotonic() < deadline:
            time.sleep(0.02)
        assert not running.server.server_state.tasks


class Crowded(BoundedProtocol):
    @classmethod
    def most_connections(cls) -> int:
        return 30


@pytest.mark.rule("contract H4")
def test_the_slowest_readers_make_room_for_others() -> None:
    running = Running(Crowded)
    connections: set[Any] = running.server.server_state.connections
    with ExitStack() as stack:
        stack.callback(running.stop)
        for _ in range(30):
            stack.enter_context(running.connected()).sendall(b"GET /flood HTTP/1.1\r\n" + HOST + b"\r\n")
        deadline = time.monotonic() + 10
        while sum(one.flow.write_paused for one in [*connections]) < 30 and time.monotonic() < deadline:
            time.sleep(0.01)
        assert [running.ask(b"GET / HTTP/1.0\r\n\r\n")[0].status for _ in range(5)] == [200] * 5
        assert 20 < len(connections) < 30  # who was let go made room for some more


# Too much.


@pytest.mark.rule("contract H4", "contract A21")
@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 40_000,
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 40_000,
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 40_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X-Header: value\r\n" * 5_000 + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"a:\r\n" * 5_000 + b"\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"a:\r\n" * 250,
    ],
    ids=["path", "unfinished header", "header", "5000 headers", "5000 small headers", "250 headers, unfinished"],
)
def test_a_head_over_the_limit_is_a_431(running: Running, head: bytes) -> None:
    parts = [head[at : at + 20_000] for at in range(0, len(head), 20_000)]
    assert running.refusal(head)[0] == 431
    assert running.refusal(*parts, every=0.02)[0] == 431


@pytest.mark.rule("contract H4")
def test_trailers_over_the_limit_are_a_431(running: Running) -> None:
    trailers = [b"X-Trailer: value\r\n" * 500] * 10
    assert running.refusal(HEAD + CHUNKED + b"1\r\na\r\n0\r\n", *trailers, every=0.02)[0] == 431


@pytest.mark.rule("contract H4")
def test_the_limit_on_heads_is_exact(running: Running) -> None:
    def head(size: int) -> bytes:
        start, end = b"GET / HTTP/1.1\r\n" + HOST + b"Connection: close\r\nX: ", b"\r\n\r\n"
        # What counts is path and fields, without the rest of the first line and the last line.
        return start + b"a" * (size - len(start + end) + len("GET  HTTP/1.1\r\n") + 2) + end

    assert running.ask(head(32_768))[0].status == 200
    assert running.refusal(head(32_769))[0] == 431
    first = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
    over = head(40_000)
    found = running.ask(first + over[:10_000], over[10_000:], every=0.05)
    assert [answer.status for answer in found] == [200, 431]


@pytest.mark.rule("contract H4", "contract A21")
@pytest.mark.parametrize("path", [b"/early", b"/"])
def test_an_endless_body_is_answered_and_no_longer_read(running: Running, path: bytes) -> None:
    chunk = b"10000\r\n" + bytes(65_536) + b"\r\n"
    before, start, sent = resident(), time.monotonic(), 0
    with running.connected() as client:
        client.sendall(b"POST " + path + b" HTTP/1.1\r\n" + HOST + CHUNKED)
        reader: list[Answer] = []
        thread = threading.Thread(target=lambda: reader.extend(answers(client)))
        thread.start()
        with suppress(OSError):
            while time.monotonic() - start < 10:
                sent += client.send(chunk)
        thread.join(10)
    assert [(answer.status, answer.headers["connection"]) for answer in reader] == [(413, "close")]
    assert time.monotonic() - start < 3
    assert resident() - before < 15_000_000


@pytest.mark.rule("contract H4")
def test_pipelined_requests_have_a_limit(running: Running) -> None:
    request = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"
    found = running.ask(request * 5_000)
    assert [answer.status for answer in found] == [200] * 65
    assert found[-1].headers["connection"] == "close"


# Invalid requests.

ONE_HOST = "Exactly one Host header is required"
INVALID = "Invalid HTTP request"
CODINGS = [b"gzip, chunked", b"gzip\r\nTransfer-Encoding: chunked", b"gzip", b"chunked;q=1", b"x"]
# Requests, each with the status and the text of the refusal; None for any text.
REFUSED: list[tuple[bytes, int, str | None]] = [
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400, INVALID),
    (b"hello\r\n\r\n", 400, INVALID),
    (b"GET / HTTQ/1.1\r\n\r\n", 400, INVALID),
    (b"GET / HTTP/1.1\nHost: a\n\n", 400, INVALID),
    (b"GET / HTTP/1.1\r\nHost: a\r\nX: b\r\n c\r\n\r\n", 400, INVALID),
    (b"GET / HTTP/1.1\r\nHost : a\r\n\r\n", 400, INVALID),
    (b"GET /\xff HTTP/1.1\r\nHost: a\r\n\r\n", 400, INVALID),
    (b"CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n", 400, INVALID),
    (HEAD + b"Content-Length: 1\r\n" + CHUNKED + b"0\r\n\r\n", 400, INVALID),
    (HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n", 400, INVALID),
    (HEAD + b"Content-Length: -1\r\n\r\n", 400, INVALID),
    (HEAD + CHUNKED + b"x\r\n", 400, INVALID),
    (HEAD + b"Transfer-Encoding: chunked\r\n" + CHUNKED + b"0\r\n\r\n", 400, INVALID),
    (b"GET / HTTP/1.1\r\n\r\n", 400, ONE_HOST),
    (b"GET / HTTP/1.1\r\n" + HOST * 2 + b"\r\n", 400, ONE_HOST),
    (b"GET / HTTP/1.1\r\nhost: a\r\nHOST: b\r\n\r\n", 400, ONE_HOST),
    (b"GET / HTTP/1.0\r\n" + HOST * 2 + b"\r\n", 400, ONE_HOST),
    *((first + b"\r\n" + HOST + b"\r\n", 505, None) for first in (b"GET / HTTP/0.9", b"GET /", b"GET / HTTP/2.0")),
    *((first + b"\r\n" + HOST + b"\r\n", 400, None) for first in (b"GET / HTTP/1.2", b"PRI * HTTP/2.0")),
    *(
        (b"DELETE /unseen HTTP/" + version + b"\r\nHost: a\r\nTransfer-Encoding: " + coding + BODY, 501, None)
        for version in (b"1.0", b"1.1")
        for coding in CODINGS
    ),
    (b"POST / HTTP/1.0\r\n" + CHUNKED + b"1\r\na\r\n0\r\n\r\n", 501, None),
]


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(("sent", "status", "text"), REFUSED)
def test_an_invalid_request_is_refused(running: Running, sent: bytes, status: int, text: str | None) -> None:
    refusal = running.refusal(sent)
    assert refusal == (status, refusal[1] if text is None else text)


@pytest.mark.rule("contract A21", "contract A22", "contract H4")
@pytest.mark.parametrize(
    ("parts", "body", "expected"),
    [
        ([b"GET / HTTP/1.0\r\n\r\n"], b"GET / 0 0", {"content-length": "9", "connection": "close"}),
        ([b"HEAD / HTTP/1.1\r\n" + CLOSE + HOST + b"\r\n"], b"", {"content-length": "10"}),
        ([b"GET /a HTTP/1.1\r\n", b"Host: a\r\nConnection: close\r\n", b"\r\n"], b"GET /a 0 2", {}),
        ([HEAD + CLOSE + b"Transfer-Encoding: Chunked" + BODY], b"POST / 1 3", {}),
        ([HEAD + CLOSE + CHUNKED + b"1\r\na\r\n0\r\nAuthorization: Bearer x\r\n\r\n"], b"POST / 1 3", {}),
        (
            [
                b"POST /host HTTP/1.1\r\nHost: \t localhost \t \r\nConnection: close \r\nTransfer-Encoding: \tchunked "
                + BODY
            ],
            b"localhost",
            {},
        ),
    ],
    ids=["HTTP/1.0 without Host", "HEAD", "in parts", "Chunked", "a trailer is no header", "white space"],
)
def test_a_valid_request_is_answered(
    running: Running, parts: list[bytes], body: bytes, expected: dict[str, str]
) -> None:
    (answer,) = running.ask(*parts, every=0.05)
    assert (answer.status, answer.body) == (200, body)
    assert answer.headers.items() >= expected.items()


def test_earlier_requests_are_answered_before_the_connection_closes(running: Running) -> None:
    slow = b"GET /slow HTTP/1.1\r\n" + HOST + b"\r\n"
    for bad in (b"GET / HTTP/1.1\r\n\r\n", HEAD + CHUNKED + b"x\r\n", b"\0"):
        assert [answer.status for answer in running.ask(slow + bad)] == [200]


def test_nothing_is_carried_out_after_the_last_response(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    head = b"POST /talk HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\n\r\n"
    (answer,) = running.ask(head + b"a", b"b", b"GET /fault HTTP/1.1\r\n" + HOST + b"\r\n", every=0.05)
    assert answer.headers["connection"] == "close"
    assert caplog.records == []


@pytest.mark.parametrize("kind", [b"h2c", b"websocket"])
def test_an_offer_to_upgrade_is_ignored(running: Running, kind: bytes) -> None:
    offer = HOST + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: " + kind + b"\r\n"
    get = b"GET /get HTTP/1.1\r\n" + offer + b"\r\n"
    post = b"POST /post HTTP/1.1\r\n" + offer + b"Content-Length: 24\r\n\r\n" + b"GET /smuggled HTTP/1.1\r\n"
    last = b"GET /last HTTP/1.0\r\n\r\n"
    whole = [answer.body for answer in running.ask(get + post + get + last)]
    assert whole == [b"GET /get 0 2", b"POST /post 24 3", b"GET /get 0 2", b"GET /last 0 0"]
    parts = [post[:90], post[90:-5], post[-5:] + last]
    assert [answer.body for answer in running.ask(*parts, every=0.05)] == [b"POST /post 24 3", b"GET /last 0 0"]


def test_a_bad_request_after_an_offer_to_upgrade_closes_the_connection(running: Running) -> None:
    offer = b"GET /get HTTP/1.1\r\n" + HOST + b"Connection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
    (good,) = running.ask(offer + b"GET /last HTTP/1.1\r\n\r\n")
    assert (good.body, good.headers["connection"]) == (b"GET /get 0 2", "close")


# What must go on working.


def test_a_connection_is_kept(running: Running) -> None:
    with running.http() as connection:
        for number in range(5):
            connection.request("POST", f"/{number}", body=b"x" * 100)  # sends head and body on their own
            response = connection.getresponse()
            assert response.read() == f"POST /{number} 100 3".encode()
            assert response.getheader("connection") is None
        used = connection.sock
        connection.request("GET", "/again")
        assert connection.getresponse().read() == b"GET /again 0 2"
        assert connection.sock is used


# Faults.


@pytest.mark.rule("contract A21")
def test_a_fault_of_the_application_is_a_500_in_json(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    assert running.refusal(b"GET /fault HTTP/1.1\r\n" + HOST + b"\r\n") == (500, "Internal Server Error")
    (record,) = caplog.records
    assert (record.name, record.levelno) == ("logoadmin.http", logging.ERROR)


def test_stopping_finishes_what_is_in_flight_and_gives_the_rest_its_own_time(caplog: pytest.LogCaptureFixture) -> None:
    running = Running(Hasty)
    with running.connected() as slow, running.connected() as silent, running.connected() as half_head:
        slow.sendall(b"GET /slow HTTP/1.1\r\n" + HOST + b"\r\n")
        half_head.sendall(b"GET /")
        time.sleep(0.1)
        start = time.monotonic()
        running.stop()
        assert time.monotonic() - start < 3
        assert answers(slow)[0].body == b"GET /slow 0 1"
        for unfinished in (silent, half_head):
            assert answers(unfinished)[0].status == 408
    assert caplog.records == []

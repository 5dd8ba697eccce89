"""What clients may do to the server: BoundedProtocol on a real socket, with short limits so that no test waits long."""

import http.client
import json
import socket
import struct
import time
from asyncio import sleep
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from typing import NamedTuple

import pytest
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from logoadmin.entrypoints.server.middleware import LoggedRequests
from logoadmin.entrypoints.server.protocol import BoundedProtocol
from tests.services import in_thread

pytestmark = pytest.mark.server("a server with sockets and its clocks")

HOST = b"Host: localhost\r\n"
HEAD = b"POST / HTTP/1.1\r\n" + HOST
CHUNKED = b"Transfer-Encoding: chunked\r\n\r\n"
CLOSE = b"Connection: close\r\n"
GET = b"GET / HTTP/1.1\r\n" + HOST + b"\r\n"


class Hasty(BoundedProtocol):
    head_seconds = 0.4
    body_seconds = 0.8
    chunked_bytes = 4_000_000

    @classmethod
    def most_connections(cls) -> int:
        return 40


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def detail(self) -> str:
        content = json.loads(self.body)
        assert list(content) == ["detail"]
        assert (self.headers["content-type"], self.headers["connection"]) == ("application/json", "close")
        return str(content["detail"])


async def app(scope: Scope, receive: Receive, send: Send) -> None:
    """Answer with the path and the size of the body; some paths do something else."""
    match scope["path"]:
        case "/early":
            await Response(b'{"detail":"no"}', 413, media_type="application/json")(scope, receive, send)
            return
        case "/large":
            await Response(bytes(20_000_000))(scope, receive, send)
            return
        case "/slow":
            await sleep(0.6)
    size, more = 0, True
    while more:
        message = await receive()
        if message["type"] == "http.disconnect":
            return
        size, more = size + len(message["body"]), message["more_body"]
    await Response(f"{scope['method']} {scope['path']} {size}")(scope, receive, send)


class Running:
    def __init__(self, port: int) -> None:
        self.address = ("127.0.0.1", port)

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
        """Return status and text of the only response, which must have the form of the server's."""
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
    with in_thread(LoggedRequests(app), http=Hasty, lifespan="off", timeout_keep_alive=1) as address:
        yield Running(int(address.rpartition(":")[2]))


# Slow and silent clients.


@pytest.mark.rule("contract H4")
def test_the_limits_are_those_of_the_contract() -> None:
    limits = BoundedProtocol
    assert (limits.head_seconds, limits.head_bytes, limits.body_seconds) == (10, 65_536, 660)


@pytest.mark.rule("contract H4", "contract A21")
@pytest.mark.parametrize("sent", [b"", b"\r\n", b"\r\n\r\n", b"G", b"GET / HTTP/1.1\r\nHost: a\r\nX-Half"])
def test_missing_headers_are_a_408(running: Running, sent: bytes) -> None:
    assert running.refusal(sent) == (408, "The head of the request did not arrive in time")


@pytest.mark.rule("contract H4")
def test_slowly_sent_headers_time_out(running: Running) -> None:
    drips = [b"X: y\r\n"] * 30
    with suppress(BrokenPipeError, ConnectionResetError):
        assert running.refusal(b"GET / HTTP/1.1\r\n", *drips, every=0.05)[0] == 408
    found = running.ask(GET + b"GET / HTTP/1.1\r\nX-Half")
    assert [answer.status for answer in found] == [200]  # and the connection is closed
    assert [answer.status for answer in running.ask(GET, b"\r\n\r\n", every=0.1)] == [200]


@pytest.mark.rule("contract H4")
def test_a_missing_body_closes_the_connection(running: Running) -> None:
    assert running.ask(HEAD + b"Content-Length: 5\r\n\r\nab") == []
    assert running.ask(HEAD + CHUNKED + b"1\r\na\r\n") == []


@pytest.mark.rule("contract H4")
def test_connections_are_limited_by_open_files(running: Running) -> None:
    with ExitStack() as stack:
        for _ in range(200):
            stack.enter_context(running.connected())
        time.sleep(0.1)
        assert BoundedProtocol.open_connections <= Hasty.most_connections()
    assert running.ask(b"GET / HTTP/1.0\r\n\r\n")[0].status == 200


# Too much.


@pytest.mark.rule("contract H4", "contract A21")
@pytest.mark.parametrize(
    "head",
    [
        b"GET /" + b"a" * 80_000,
        b"GET / HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 80_000 + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST + b"X-Header: value\r\n" * 5_000 + b"\r\n",
    ],
    ids=["path", "header", "5000 headers"],
)
def test_headers_over_the_limit_are_a_431(running: Running, head: bytes) -> None:
    parts = [head[at : at + 20_000] for at in range(0, len(head), 20_000)]
    with suppress(BrokenPipeError, ConnectionResetError):
        assert running.refusal(*parts, every=0.02)[0] == 431
    found = running.ask(GET + head)
    assert [answer.status for answer in found] == [200]  # and the connection is closed


@pytest.mark.rule("contract H4")
def test_the_limit_on_headers_is_exact(running: Running) -> None:
    start, end = b"GET / HTTP/1.1\r\n" + HOST + CLOSE + b"X: ", b"\r\n\r\n"
    assert running.ask(start + b"a" * (65_536 - len(start)) + end)[0].status == 200
    assert running.refusal(start + b"a" * (65_537 - len(start)) + end)[0] == 431


@pytest.mark.rule("contract H4")
def test_endless_chunks_and_trailers_are_aborted(running: Running) -> None:
    sent = 0
    with running.connected() as client, suppress(OSError):
        client.sendall(HEAD + CHUNKED + b"1\r\na\r\n0\r\n")
        while sent < 40_000_000:
            sent += client.send(b"X-Trailer: value\r\n" * 1_000)
    assert sent < 40_000_000


# Requests.


@pytest.mark.rule("contract A21", "contract H4")
@pytest.mark.parametrize(
    ("parts", "bodies"),
    [
        ([b"GET / HTTP/1.0\r\n\r\n"], [b"GET / 0"]),
        ([b"GET /a HTTP/1.1\r\n", b"Host: a\r\nConnection: close\r", b"\n\r", b"\n"], [b"GET /a 0"]),
        ([HEAD + CHUNKED + b"1\r\na\r\n0\r\n\r\n"], [b"POST / 1"]),
        ([HEAD + CHUNKED, b"1\r\na\r\n", b"0\r\nAuthorization: Bearer x\r\n\r\n"], [b"POST / 1"]),
        ([b"\r\n" + GET * 2 + HEAD + b"Content-Length: 3\r\n\r\nabc\r\n"], [b"GET / 0"] * 2 + [b"POST / 3"]),
        ([HEAD + b"Content-Length: 3\r\n\r\na", b"b", b"cGET / HTTP/1.0\r\n\r\n"], [b"POST / 3", b"GET / 0"]),
        ([b"GET http://localhost/a HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n"], [b"GET /a 0"]),
        ([HEAD + b"Content-Length: " + b"0" * 30 + b"3\r\n\r\n\r\na" + GET], [b"POST / 3", b"GET / 0"]),
    ],
)
def test_a_valid_request_is_answered(running: Running, parts: list[bytes], bodies: list[bytes]) -> None:
    found = running.ask(*parts, every=0.05)
    assert [(answer.status, answer.body) for answer in found] == [(200, body) for body in bodies]


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize(
    "sent",
    [
        b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03",
        b"hello\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        HEAD + b"Content-Length: 1\r\n" + CHUNKED + b"0\r\n\r\n",
        HEAD + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\n",
        HEAD + b"Content-Length: -1\r\n\r\n",
        HEAD + CHUNKED + b"x\r\n",
        b"GET / HTTP/1.1\r\n\r\n",
        b"GET / HTTP/1.1\r\n" + HOST * 2 + b"\r\n",
        b"GET / HTTP/1.0\r\n" + HOST * 2 + b"\r\n",
        b"GET / HTTP/2.0\r\n\r\n",
        b"GET http://localhost/ HTTP/1.1\r\n\r\n",
    ],
)
def test_an_invalid_request_is_refused(running: Running, sent: bytes) -> None:
    assert running.refusal(sent)[0] == 400


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize("codings", [b"gzip, chunked", b"gzip\r\nTransfer-Encoding: chunked", b"identity"])
def test_an_unknown_transfer_coding_is_refused(running: Running, codings: bytes) -> None:
    sent = HEAD + b"Transfer-Encoding: " + codings + b"\r\n\r\n1\r\na\r\n0\r\n\r\n"
    assert running.refusal(sent) == (501, "Transfer-Encoding should be chunked")


@pytest.mark.rule("contract A21")
@pytest.mark.parametrize("sent", [b"\0\r\n\r\n" + GET, b"GET /\r\nx\r\n\r\n" * 9, HEAD + CHUNKED + b"x\r\n"])
def test_an_invalid_request_takes_no_response_from_the_one_before(running: Running, sent: bytes) -> None:
    found = running.ask(b"GET /slow HTTP/1.1\r\n" + HOST + b"\r\n" + sent)
    assert [answer.body for answer in found] == [b"GET /slow 0"]
    assert [answer.status for answer in running.ask(GET, sent.replace(GET, b""), every=0.1)] == [200]


@pytest.mark.rule("contract H4", "contract A21")
def test_an_unread_body_is_drained_after_the_response(running: Running) -> None:
    with closing(http.client.HTTPConnection(*running.address, timeout=5)) as connection:
        connection.request("POST", "/early", body=b"x" * 1_000_000)
        assert connection.getresponse().read() == b'{"detail":"no"}'
        connection.request("GET", "/again")
        assert connection.getresponse().read() == b"GET /again 0"


@pytest.mark.parametrize("kind", [b"h2c", b"websocket"])
def test_an_offer_to_upgrade_is_ignored(running: Running, kind: bytes) -> None:
    offer = HOST + b"Connection: Upgrade, HTTP2-Settings\r\nUpgrade: " + kind + b"\r\n"
    get = b"GET /get HTTP/1.1\r\n" + offer + b"\r\n"
    post = b"POST /post HTTP/1.1\r\n" + offer + b"Content-Length: 24\r\n\r\n" + b"GET /smuggled HTTP/1.1\r\n"
    whole = [answer.body for answer in running.ask(get + post + get + b"GET /last HTTP/1.0\r\n\r\n")]
    assert whole == [b"GET /get 0", b"POST /post 24", b"GET /get 0", b"GET /last 0"]


@pytest.mark.rule("contract K3")
def test_a_client_leaving_pipelined_requests_is_no_fault(running: Running, caplog: pytest.LogCaptureFixture) -> None:
    with running.connected() as client:
        client.sendall(3 * (b"GET /large HTTP/1.1\r\n" + HOST + b"\r\n"))
        time.sleep(0.2)  # the second response waits until the client reads the first
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # closes with a reset
    assert len(running.ask(b"GET /slow HTTP/1.1\r\n" + HOST + CLOSE + b"\r\n")) == 1
    assert not [record for record in caplog.records if record.levelname == "ERROR"]

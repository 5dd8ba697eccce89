"""Slow clients of the application, whatever serves it: how long they may take, and how little is held for them."""

import asyncio
from typing import Final

import pytest
from starlette.types import Message, Receive, Scope, Send

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.entrypoints.http_api.bodies import TimedBody
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.limits import ClientLimits, SlowReader
from logoadmin.ports.kernel.metrics import NoMetrics
from tests.asgi import nothing_more, scope_of
from tests.entrypoints.told_time import run
from tests.gallery import FrozenClock, gallery_on

KIB: Final = 1024
HEAD: Final[Message] = {"type": "http.response.start", "status": 200, "headers": []}


class Body:
    """A client that sends a body in parts, at a pace."""

    def __init__(self, size: int, every: float, parts: int, complete: bool = True) -> None:
        self._part, self._every, self._left, self._complete = bytes(size), every, parts, complete

    async def receive(self) -> Message:
        if not self._left:
            await nothing_more()
        await asyncio.sleep(self._every)
        self._left -= 1
        return {"type": "http.request", "body": self._part, "more_body": self._left > 0 or not self._complete}


def sent(path: str, body: Body, media_type: str = "application/json") -> tuple[int, float]:
    """Send a body to the service; return the status of the response and how long it took."""
    app = logoadmin.asgi(gallery_on(MemoryStorage(), FrozenClock()))
    scope = scope_of("POST", path, [("content-type", media_type)])
    statuses: list[int] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.start":
            statuses.append(message["status"])

    async def main() -> float:
        await app(scope, body.receive, send)
        return asyncio.get_running_loop().time()

    seconds = run(main())
    (status,) = statuses
    return status, round(seconds, 1)


@pytest.mark.rule("contract H4", "contract H6", "contract A21")
@pytest.mark.parametrize(
    ("body", "status", "seconds"),
    [
        *((Body(1, 0, 1), 422, 0), (Body(1_000, 1, 12), 422, 12), (Body(1_000, 1, 20), 408, 15)),
        *((Body(1, 0, 1, complete=False), 408, 5), (Body(1, 1, 60), 408, 5), (Body(0, 0.1, 600), 408, 5)),
        *((Body(2_500, 4.5, 3), 422, 13.5), (Body(2_500, 5.5, 3), 408, 5)),
    ],
    ids=["at once", "steady", "too long", "half", "drips", "empty parts", "pauses", "pauses too long"],
)
def test_a_body_arrives_steadily_and_within_15_seconds_or_is_a_408(body: Body, status: int, seconds: float) -> None:
    assert sent("/api/authors", body) == (status, seconds)


@pytest.mark.rule("contract H4", "contract I4")
@pytest.mark.parametrize(("size", "status", "seconds"), [(1_000, 200, 60), (400, 408, 21), (0, 408, 5)])
def test_an_import_must_only_arrive_steadily(size: int, status: int, seconds: float) -> None:
    body = TimedBody(Body(size, 1, 60).receive, None, NoMetrics())

    async def main() -> tuple[int, float]:
        status = 200
        try:
            while (await body.part())[1]:
                pass
        except HttpError as error:
            status = error.status
        return status, round(asyncio.get_running_loop().time(), 1)

    assert run(main()) == (status, seconds)


@pytest.mark.rule("contract H4", "contract A21")
def test_a_body_of_lines_is_not_received_where_none_are_imported() -> None:
    assert sent("/api/authors", Body(1_000, 1, 60), "application/jsonl") == (415, 0)


async def reading(size: int, rate: float, every: float, held: int = 128 * KIB, parts: int = 1) -> tuple[int, int]:
    """Have a client read a response, some of it every few seconds; return how much it got, and the largest message."""
    buffer = read = largest = 0
    room = asyncio.Event()

    async def send(message: Message) -> None:
        nonlocal buffer, largest
        while buffer > held:
            room.clear()
            await room.wait()
        buffer += len(message.get("body", b""))
        largest = max(largest, len(message.get("body", b"")))

    async def read_on() -> None:
        nonlocal buffer, read
        while True:
            await asyncio.sleep(every)
            taken = min(buffer, int(rate * every))
            buffer, read = buffer - taken, read + taken
            room.set()

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send(HEAD)
        for number in range(parts):
            await send({"type": "http.response.body", "body": bytes(size // parts), "more_body": number < parts - 1})

    client = asyncio.ensure_future(read_on())
    try:
        await ClientLimits(app)(scope_of("GET", "/"), nothing_more, send)
    finally:
        client.cancel()
    return read + buffer, largest


@pytest.mark.rule("contract E1", "contract H4", "contract K8")
@pytest.mark.parametrize("rate", [8 * KIB, 10_000, 314_000])
@pytest.mark.parametrize("every", [0.25, 1, 8, 30])
@pytest.mark.parametrize("parts", [1, 200])
def test_a_client_that_reads_8_kib_a_second_gets_all_of_the_response(rate: int, every: float, parts: int) -> None:
    size, largest = run(reading(rate * 200, rate, every, parts=parts))
    assert size == rate * 200
    assert largest <= 64 * KIB


@pytest.mark.rule("contract H4")
@pytest.mark.parametrize(("rate", "seconds"), [(0, 60), (1_000, 120), (3_000, 300)])
def test_a_client_that_reads_much_less_is_cut_off(rate: int, seconds: float) -> None:
    async def main() -> float:
        with pytest.raises(SlowReader):
            await reading(10_000_000, rate, 1)
        return asyncio.get_running_loop().time()

    assert run(main()) <= seconds + 1

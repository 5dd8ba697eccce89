"""Slow clients of the application, whatever serves it: how long they may send, and how little is held for them."""

import asyncio
from typing import Final

import pytest
from starlette.types import Message, Receive, Scope, Send

import logoadmin
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.entrypoints.http_api.bodies import BodyReader
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.responses import CountedRequests
from logoadmin.ports.metrics import NoMetrics
from tests.asgi import nothing_more, scope_of
from tests.entrypoints.simulated_time import run
from tests.gallery import FrozenClock, gallery_on

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
        (Body(1, 0, 1), 422, 0),
        (Body(100, 4, 14), 422, 56),
        (Body(100, 4, 16), 408, 60),
        (Body(1, 1, 9, False), 408, 60),
    ],
    ids=["at once", "slow", "too slow", "half"],
)
def test_a_body_arrives_within_a_minute_or_is_a_408(body: Body, status: int, seconds: float) -> None:
    assert sent("/api/authors", body) == (status, seconds)


@pytest.mark.rule("contract H4", "contract I4")
@pytest.mark.parametrize(("every", "status", "seconds"), [(9, 200, 540), (11, 408, 600)])
def test_an_import_arrives_within_ten_minutes(every: float, status: int, seconds: float) -> None:
    async def main() -> tuple[int, float]:
        status = 200
        try:
            async with BodyReader(NoMetrics()).received(Body(1, every, 60).receive, 1) as (file, _):
                assert file.size == 60
        except HttpError as error:
            status = error.status
        return status, round(asyncio.get_running_loop().time(), 1)

    assert run(main()) == (status, seconds)


@pytest.mark.rule("contract H4", "contract A21")
def test_a_body_of_lines_is_not_read_where_none_are_imported() -> None:
    assert sent("/api/authors", Body(1_000, 1, 60), "application/jsonl") == (415, 0)


@pytest.mark.rule("contract E1", "contract K8")
@pytest.mark.parametrize("parts", [1, 20])
def test_a_response_is_passed_to_the_server_in_slices(parts: int) -> None:
    sizes: list[int] = []
    more: list[bool] = []

    async def send(message: Message) -> None:
        if message["type"] == "http.response.body":
            sizes.append(len(message["body"]))
            more.append(message["more_body"])

    async def app(_scope: Scope, _receive: Receive, send: Send) -> None:
        await send(HEAD)
        for number in range(parts):
            body = bytes(2_000_000 // parts)
            await send({"type": "http.response.body", "body": body, "more_body": number < parts - 1})

    run(CountedRequests(app)(scope_of("GET", "/"), nothing_more, send))
    assert (sum(sizes), max(sizes)) == (2_000_000, 65_536)
    assert more == [True] * (len(more) - 1) + [False]

"""The response cache: its content, its freshness and its size (contract E1, F1, F2)."""

import asyncio
from typing import Any, Final

import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from logoadmin.domain.kernel.errors import StorageUnavailable
from logoadmin.entrypoints.http_api import response_cache as module
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.request import request_of
from logoadmin.entrypoints.http_api.response_cache import Answers, DataVersion, ResponseCache
from logoadmin.entrypoints.http_api.responses import RenderedResponse
from logoadmin.ports.metrics import NoMetrics
from tests.asgi import AppResponse, ask

pytestmark = pytest.mark.rule("contract E1", "contract F1")

BODY: Final = b'[{"author_id":1}]'
PUBLIC: Final = [(b"etag", b'"5"'), (b"cache-control", b"public, max-age=60"), (b"content-type", b"application/json")]
FOR_ALL: Final = [(b"access-control-allow-origin", b"*")]


class Records:
    """Stands in for the gallery and for its change history: all that counts is the number of changes."""

    waits = False
    concurrent_reads = 1

    def __init__(self) -> None:
        self.number = 7
        self.on_the_spot = True
        self.fault: Exception | None = None
        self.looks = 0
        self.changes = self

    def data_version(self) -> int | None:
        return self.version() if self.on_the_spot and self.fault is None else None

    def version(self) -> int:
        self.looks += 1
        if self.fault is not None:
            raise self.fault
        return self.number


class Application:
    """Answers in one way, after a look at the version, and stores it; counts how often."""

    def __init__(self, records: Records) -> None:
        self.answered = 0
        self.status = 200
        self.body = BODY
        self.data_version = DataVersion(records, Dispatch(records))  # type: ignore[arg-type]  # as far as it is used
        self.answers = Answers(NoMetrics())

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        request = request_of(scope)
        version = None if self.status == 503 else await self.data_version.of(request)
        self.answered += 1
        response = RenderedResponse(self.status, PUBLIC, self.body)
        if version is not None:
            self.answers.keep(request, version, response, FOR_ALL)
        own = [*FOR_ALL, (b"x-request-id", f"answer {self.answered}".encode())]
        await response.send(send, own, is_head=scope["method"] == "HEAD")


@pytest.fixture
def records() -> Records:
    return Records()


@pytest.fixture
def application(records: Records) -> Application:
    return Application(records)


@pytest.fixture
def cache(application: Application) -> ResponseCache:
    return ResponseCache(application, application.data_version, application.answers, NoMetrics())


def get(cache: ASGIApp, path: str = "/api/authors", method: str = "GET", **headers: str) -> AppResponse:
    return ask(cache, method, path, headers=[(name.replace("_", "-"), value) for name, value in headers.items()])


@pytest.mark.parametrize("on_the_spot", [True, False])
def test_an_answer_is_served_again_as_it_was_sent(
    cache: ResponseCache, application: Application, records: Records, on_the_spot: bool
) -> None:
    records.on_the_spot = on_the_spot
    first, second = get(cache), get(cache)
    assert application.answered == 1
    assert (second.status_code, second.body) == (200, BODY)
    assert second.headers[:-1] == first.headers[:-1]
    assert records.looks == 2  # one for each request


@pytest.mark.parametrize(("from_sockets", "looks"), [(True, 2), (False, 3)])
def test_requests_from_sockets_in_one_round_of_the_event_loop_share_a_look(
    records: Records, from_sockets: bool, looks: int
) -> None:
    data_version = DataVersion(records, Dispatch(records), from_sockets=from_sockets)  # type: ignore[arg-type]  # the same

    async def rounds() -> None:
        request = request_of({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
        versions = [data_version.nonblocking(request) for _ in range(2)]
        assert versions[0] is versions[1]
        records.number = 8
        await asyncio.sleep(0)
        assert data_version.nonblocking(request) is not versions[0]

    asyncio.run(rounds())
    assert records.looks == looks


def test_each_answer_has_a_request_id_of_its_own(cache: ResponseCache) -> None:
    get(cache)
    assert get(cache, x_request_id="mine").header("x-request-id") == "mine"
    made_up = [get(cache).header("x-request-id") for _ in range(2)]
    assert made_up[0] != made_up[1]
    assert "answer 1" not in made_up


@pytest.mark.parametrize("on_the_spot", [True, False])
@pytest.mark.parametrize("number", [6, 8])
def test_nothing_is_served_again_after_a_change(
    cache: ResponseCache, application: Application, records: Records, number: int, on_the_spot: bool
) -> None:
    records.on_the_spot = on_the_spot
    get(cache)
    records.number = number
    application.body = b"[]"
    assert get(cache).body == b"[]"
    # A version that comes back may be of other records.
    application.body, records.number = b"[1]", 7
    assert get(cache).body == b"[1]"


def test_head_is_answered_like_get_without_the_body(cache: ResponseCache, application: Application) -> None:
    get(cache, method="HEAD")
    whole = get(cache)
    assert application.answered == 2  # what HEAD was answered is no answer to GET
    head = get(cache, method="HEAD")
    assert (head.status_code, head.body, head.headers[:-1]) == (200, b"", whole.headers[:-1])
    assert application.answered == 2


@pytest.mark.parametrize("path", ["/api/logos", "/api/authors?limit=1", "/api%2fauthors"])
def test_requests_for_something_else_are_not_answered_alike(
    cache: ResponseCache, application: Application, path: str
) -> None:
    get(cache)
    get(cache, path)
    assert application.answered == 2


@pytest.mark.parametrize(
    "different",
    [
        {"status": 404},
        {"body": bytes(module._LARGEST + 1)},
    ],
    ids=str,
)
def test_only_short_records_are_stored(
    cache: ResponseCache, application: Application, different: dict[str, Any]
) -> None:
    for name, value in different.items():
        setattr(application, name, value)
    get(cache)
    get(cache)
    assert application.answered == 2


def test_when_the_version_is_unknown_the_application_answers(
    cache: ResponseCache, application: Application, records: Records
) -> None:
    get(cache)
    records.fault = StorageUnavailable("db.example:3306")
    application.status = 503
    assert get(cache).status_code == 503


@pytest.mark.rule("contract H4")
def test_requests_that_are_long_for_no_reason_fill_no_memory(cache: ResponseCache, application: Application) -> None:
    for long in ("/a?" + "&" * 20_000, f"/api/authors/{'0' * 20_000}1", "/api/authors?" + "&" * 501):
        for _ in range(2):
            get(cache, long)
    assert application.answered == 6
    for _ in range(2):
        get(cache, "/api/authors?" + "&" * 500)
    assert application.answered == 7

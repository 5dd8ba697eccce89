"""The response cache: which responses are served again, and in which form (contract E1, F1)."""

import asyncio
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, cast

import pytest
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.request import request_of
from logoadmin.entrypoints.http_api.response_cache import DataVersion
from tests.asgi import AppResponse, ask
from tests.gallery import ADMIN_PASSWORD, ARTWORK, stock
from tests.series import samples

pytestmark = pytest.mark.rule("contract E1", "contract F1")


@pytest.fixture
def gallery() -> Iterator[LogoAdmin]:
    """A gallery that counts the requests to its own cache alone."""
    with logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD) as own:
        stock(own)
        yield own


@pytest.fixture
def app(gallery: LogoAdmin) -> ASGIApp:
    return logoadmin.asgi(gallery)


def get(app: ASGIApp, path: str = "/api/authors", method: str = "GET", **headers: str) -> AppResponse:
    named = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return ask(app, method, path, headers=named.items())


def hits(gallery: LogoAdmin) -> float:
    """Return how many responses came from the cache so far."""
    return samples(logoadmin.metrics(gallery))['logoadmin_response_cache_total{outcome="hit"}']


def without_id(response: AppResponse) -> list[tuple[bytes, bytes]]:
    return [field for field in response.headers if field[0] != b"x-request-id"]


def test_a_cached_response_is_identical_but_for_its_request_id(app: ASGIApp, gallery: LogoAdmin) -> None:
    first, second, third = get(app), get(app), get(app, x_request_id="mine")
    assert (first.status_code, hits(gallery)) == (200, 2)
    for again in (second, third):
        assert (again.status_code, again.body, without_id(again)) == (200, first.body, without_id(first))
    assert third.header("x-request-id") == "mine"
    assert first.header("x-request-id") != second.header("x-request-id")


def test_a_cached_head_responds_like_get_without_the_body(app: ASGIApp, gallery: LogoAdmin) -> None:
    get(app, method="HEAD")
    whole = get(app)
    assert hits(gallery) == 0  # the response to HEAD is none to GET
    head = get(app, method="HEAD")
    assert (head.status_code, head.body, without_id(head), hits(gallery)) == (200, b"", without_id(whole), 1)


@pytest.mark.rule("contract H4")
@pytest.mark.parametrize(
    ("first", "second"),
    [
        *(("/api/authors", other) for other in ("/api/logos", "/api/authors?limit=1", "/api%2fauthors")),
        # Missing, long, and requests that are long for no reason, which would fill the memory.
        *((path, path) for path in ("/api/logos/99", "/api/logos/2", "/a?" + "&" * 20_000)),
        *((path, path) for path in (f"/api/authors/{'0' * 20_000}1", "/api/authors?" + "&" * 501)),
    ],
)
def test_only_short_records_are_cached_and_only_for_the_same_request(
    app: ASGIApp, gallery: LogoAdmin, first: str, second: str
) -> None:
    gallery.logos.create(logoadmin.CreateLogo(**{**ARTWORK, "custom_css": "x" * 65_537}))
    get(app, first)
    get(app, second)
    assert hits(gallery) == 0


@pytest.mark.parametrize(("from_sockets", "looks"), [(True, 3), (False, 4)])
def test_requests_from_sockets_in_one_iteration_of_the_event_loop_share_a_check(from_sockets: bool, looks: int) -> None:
    numbers = iter([7, 8, 7, 7] if from_sockets else [7, 7, 8, 7])
    gallery = cast(Any, SimpleNamespace(data_version=lambda: next(numbers), waits=False, concurrent_reads=1))
    data_version = DataVersion(gallery, Dispatch(gallery), from_sockets=from_sockets)

    async def rounds() -> None:
        request = request_of({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
        versions = [data_version.nonblocking(request) for _ in range(2)]
        assert versions[0] is versions[1]
        # A version that comes back may be of other records.
        for _ in range(2):
            await asyncio.sleep(0)
            versions.append(data_version.nonblocking(request))
        assert len({id(version) for version in versions}) == 3

    asyncio.run(rounds())
    assert len([*numbers]) == 4 - looks

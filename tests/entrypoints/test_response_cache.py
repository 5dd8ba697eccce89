"""Which responses are kept and served again, and their form in gzip (contract E1, F1, K8)."""

import asyncio
import gzip
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any, Final, cast

import pytest
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.gallery.artworks import CreateLogo
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.conditions import accepts_gzip
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.request import Request, request_of
from logoadmin.entrypoints.http_api.response_cache import DataVersion
from tests.asgi import AppClient, AppResponse, ask
from tests.gallery import ADMIN_PASSWORD, ARTWORK, stock
from tests.series import samples

pytestmark = pytest.mark.rule("contract E1", "contract F1", "contract K8")


@pytest.fixture
def gallery() -> Iterator[LogoAdmin]:
    """A gallery that counts the requests to its own cache alone."""
    with logoadmin.connect(access="open", admin_password=ADMIN_PASSWORD) as own:
        stock(own)
        yield own


@pytest.fixture
def app(gallery: LogoAdmin) -> ASGIApp:
    return logoadmin.asgi(gallery)


def asked(app: ASGIApp, path: str = "/api/authors", method: str = "GET", **headers: str) -> AppResponse:
    named = {"host": "localhost", **{name.replace("_", "-"): value for name, value in headers.items()}}
    return ask(app, method, path, headers=named.items())


def hits(gallery: LogoAdmin) -> float:
    return samples(logoadmin.metrics(gallery))['logoadmin_response_cache_total{outcome="hit"}']


def without_id(response: AppResponse) -> list[tuple[bytes, bytes]]:
    return [field for field in response.headers if field[0] != b"x-request-id"]


def test_a_cached_response_is_identical_but_for_its_request_id(app: ASGIApp, gallery: LogoAdmin) -> None:
    first, second, third = asked(app), asked(app), asked(app, x_request_id="mine")
    assert (first.status_code, hits(gallery)) == (200, 2)
    for again in (second, third):
        assert (again.status_code, again.body, without_id(again)) == (200, first.body, without_id(first))
    assert third.header("x-request-id") == "mine"
    assert first.header("x-request-id") != second.header("x-request-id")


def test_a_cached_head_responds_like_get_without_the_body(app: ASGIApp, gallery: LogoAdmin) -> None:
    asked(app, method="HEAD")
    whole = asked(app)
    assert hits(gallery) == 0  # the response to HEAD is none to GET
    head = asked(app, method="HEAD")
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
def test_only_short_records_are_cached_by_request(app: ASGIApp, gallery: LogoAdmin, first: str, second: str) -> None:
    gallery.logos.create(logoadmin.CreateLogo(**{**ARTWORK, "custom_css": "x" * 65_537}))
    asked(app, first)
    asked(app, second)
    assert hits(gallery) == 0


@pytest.mark.parametrize(("from_sockets", "looks"), [(True, 3), (False, 4)])
async def test_requests_from_sockets_share_a_check_in_one_iteration(from_sockets: bool, looks: int) -> None:
    numbers = iter([7, 8, 7, 7] if from_sockets else [7, 7, 8, 7])
    gallery = cast(Any, SimpleNamespace(data_version=lambda: next(numbers), waits=False, concurrent_reads=1))
    data_version = DataVersion(gallery, Dispatch(gallery), from_sockets=from_sockets)
    request = request_of({"type": "http", "method": "GET", "path": "/", "query_string": b"", "headers": []})
    versions = [data_version.nonblocking(request) for _ in range(2)]
    assert versions[0] is versions[1]
    # A version that comes back may be of other records.
    for _ in range(2):
        await asyncio.sleep(0)
        versions.append(data_version.nonblocking(request))
    assert len({id(version) for version in versions}) == 3
    assert len([*numbers]) == 4 - looks


# In gzip.

GZIP: Final = [("accept-encoding", "gzip, deflate, br")]
LONG: Final = "a{color:red}" * 200

ROWS: Final = ["/api/logos", "/api/logos?limit=40", "/api/users", "/openapi.json", "/docs/swagger-ui.css"]


@pytest.fixture
def filled(gallery: LogoAdmin) -> ASGIApp:
    for number in range(60):
        gallery.logos.create(CreateLogo(**ARTWORK | {"name": f"Elk {number}", "custom_css": LONG * (number % 20)}))
    return logoadmin.asgi(gallery)


def signed_in(filled: ASGIApp) -> list[tuple[str, str]]:
    """Return the header fields of an administrator who sends JSON."""
    tokens = AppClient(filled).post("/api/auth/token", json={"username": "admin", "password": ADMIN_PASSWORD})
    return [("authorization", f"Bearer {tokens.json()['access_token']}"), ("content-type", "application/json")]


def both(filled: ASGIApp, path: str, headers: Sequence[tuple[str, str]] = ()) -> tuple[AppResponse, AppResponse]:
    """Return the same response, plain and in gzip."""
    plain, compressed = ask(filled, "GET", path, headers=headers), ask(filled, "GET", path, headers=[*GZIP, *headers])
    assert plain.header("content-encoding") is None
    assert plain.header("vary") == compressed.header("vary") == "Accept-Encoding"
    return plain, compressed


@pytest.mark.parametrize("path", ROWS)
def test_a_long_response_is_always_the_same_in_gzip(filled: ASGIApp, path: str) -> None:
    for _ in range(3):
        plain, compressed = both(filled, path, signed_in(filled) if "users" in path else [])
        if len(plain.body) <= 1024:
            assert (compressed.body, compressed.header("content-encoding")) == (plain.body, None)
            continue
        assert compressed.header("content-encoding") == "gzip"
        assert gzip.decompress(compressed.body) == plain.body
        assert len(compressed.body) < len(plain.body) / 2
        length = compressed.header("content-length")
        assert length is None or int(length) == len(compressed.body)


@pytest.mark.rule("contract F1")
@pytest.mark.parametrize("path", ["/api/logos", "/api/logos/19", "/api/logos/20", "/docs/swagger-ui.css"])
def test_either_etag_is_current_and_a_304_repeats_that_of_the_client(filled: ASGIApp, path: str) -> None:
    for _ in range(2):
        plain, compressed = both(filled, path)
        tags = [plain.header("etag") or "", compressed.header("etag") or ""]
        assert tags[1] == tags[0][:-1] + '-gzip"'
        for tag in tags:
            for headers in ([], GZIP):
                for method in ("GET", "HEAD"):
                    known = ask(filled, method, path, headers=[*headers, ("if-none-match", tag)])
                    assert (known.status_code, known.body, known.header("etag")) == (304, b"", tag)
                    assert (known.header("content-encoding"), known.header("vary")) == (None, "Accept-Encoding")


@pytest.mark.rule("contract F1")
def test_either_etag_is_accepted_for_a_change(filled: ASGIApp) -> None:
    for which in (0, 1):
        tag = both(filled, "/api/logos/19")[which].header("etag") or ""
        headers = [("if-match", tag), *signed_in(filled)]
        changed = ask(filled, "PATCH", "/api/logos/19", headers=headers, body=b'{"name": "Owl %d"}' % which)
        assert changed.status_code == 200
        again = ask(filled, "PATCH", "/api/logos/19", headers=headers, body=b'{"name": "Bat"}')
        assert again.status_code == 412


def test_responses_with_a_token_or_key_are_not_compressed(filled: ASGIApp) -> None:
    client = AppClient(filled)
    client.headers["accept-encoding"] = "gzip"
    scope = [f"{'x' * 60}{number}" for number in range(20)]
    client.patch("/api/roles/2", json={"scope": ["*", *scope]}, headers=dict(signed_in(filled)))
    tokens = client.post("/api/auth/token", json={"username": "admin", "password": ADMIN_PASSWORD})
    asked = {"name": "k", "scope": scope, "expires_in": None}
    key = client.post("/api/auth/keys", json=asked, headers=dict(signed_in(filled)))
    for answer in (tokens, key):
        assert answer.is_success
        assert len(answer.content) > 1024
        assert "content-encoding" not in answer.headers


def with_headers(*headers: tuple[bytes, bytes]) -> Request:
    return request_of({"method": "GET", "path": "/", "query_string": b"", "headers": headers})


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        *((b"gzip", True), (b"deflate, GZIP;q=0.001", True), (b"*", True), (b"x-gzip", True), (b"gzip;q=0", False)),
        *((b"gzip ; q=0.000", False), (b"gzip;q=0, *", False), (b"*;q=0", False), (b"br, identity", False)),
        *((b"", False), (b"\xff;;q=,,", False)),
    ],
)
def test_gzip_is_sent_only_to_clients_that_accept_it(sent: bytes, taken: bool) -> None:
    assert accepts_gzip(with_headers((b"host", b"gzip"), (b"accept-encoding", sent))) is taken
    assert not accepts_gzip(with_headers())

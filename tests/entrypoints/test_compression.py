"""Responses in gzip."""

import gzip
from collections.abc import Sequence
from typing import Final

import pytest
from starlette.types import ASGIApp

import logoadmin
from logoadmin.domain.gallery.artworks import CreateLogo
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.conditions import accepts_gzip
from logoadmin.entrypoints.http_api.request import Request, request_of
from tests.asgi import AppClient, AppResponse, ask
from tests.gallery import ADMIN_PASSWORD, ARTWORK

pytestmark = pytest.mark.rule("contract K8")

GZIP: Final = [("accept-encoding", "gzip, deflate, br")]
LONG: Final = "a{color:red}" * 200

ROWS: Final = ["/api/logos", "/api/logos?limit=40", "/api/users", "/openapi.json", "/docs/swagger-ui.css"]


@pytest.fixture
def app(gallery: LogoAdmin) -> ASGIApp:
    for number in range(60):
        gallery.logos.create(CreateLogo(**ARTWORK | {"name": f"Elk {number}", "custom_css": LONG * (number % 20)}))
    return logoadmin.asgi(gallery)


def signed_in(app: ASGIApp) -> list[tuple[str, str]]:
    """Return the header fields of an administrator who sends JSON."""
    tokens = AppClient(app).post("/api/auth/token", json={"username": "admin", "password": ADMIN_PASSWORD})
    return [("authorization", f"Bearer {tokens.json()['access_token']}"), ("content-type", "application/json")]


def both(app: ASGIApp, path: str, headers: Sequence[tuple[str, str]] = ()) -> tuple[AppResponse, AppResponse]:
    """Return the same response, plain and in gzip."""
    plain, compressed = ask(app, "GET", path, headers=headers), ask(app, "GET", path, headers=[*GZIP, *headers])
    assert plain.header("content-encoding") is None
    assert plain.header("vary") == compressed.header("vary") == "Accept-Encoding"
    return plain, compressed


@pytest.mark.parametrize("path", ROWS)
def test_a_long_response_is_always_the_same_in_gzip(app: ASGIApp, path: str) -> None:
    for _ in range(3):
        plain, compressed = both(app, path, signed_in(app) if "users" in path else [])
        if len(plain.body) <= 1024:
            assert compressed.body == plain.body
            assert compressed.header("content-encoding") is None
            continue
        assert compressed.header("content-encoding") == "gzip"
        assert gzip.decompress(compressed.body) == plain.body
        assert len(compressed.body) < len(plain.body) / 2
        length = compressed.header("content-length")
        assert length is None or int(length) == len(compressed.body)


@pytest.mark.rule("contract F1")
@pytest.mark.parametrize("path", ["/api/logos", "/api/logos/19", "/api/logos/20", "/docs/swagger-ui.css"])
def test_either_etag_is_current_and_a_304_repeats_that_of_the_client(app: ASGIApp, path: str) -> None:
    for _ in range(2):
        plain, compressed = both(app, path)
        tags = [plain.header("etag") or "", compressed.header("etag") or ""]
        assert tags[1] == tags[0][:-1] + '-gzip"'
        for tag in tags:
            for headers in ([], GZIP):
                for method in ("GET", "HEAD"):
                    known = ask(app, method, path, headers=[*headers, ("if-none-match", tag)])
                    assert (known.status_code, known.body, known.header("etag")) == (304, b"", tag)
                    assert known.header("content-encoding") is None
                    assert known.header("vary") == "Accept-Encoding"


@pytest.mark.rule("contract F1")
def test_either_etag_is_accepted_for_a_change(app: ASGIApp) -> None:
    for which in (0, 1):
        tag = both(app, "/api/logos/19")[which].header("etag") or ""
        headers = [("if-match", tag), *signed_in(app)]
        changed = ask(app, "PATCH", "/api/logos/19", headers=headers, body=b'{"name": "Owl %d"}' % which)
        assert changed.status_code == 200
        again = ask(app, "PATCH", "/api/logos/19", headers=headers, body=b'{"name": "Bat"}')
        assert again.status_code == 412


def test_responses_with_a_token_or_key_are_not_compressed(app: ASGIApp) -> None:
    client = AppClient(app, raises=True)
    client.headers["accept-encoding"] = "gzip"
    scope = [f"{'x' * 60}{number}" for number in range(20)]
    client.patch("/api/roles/2", json={"scope": ["*", *scope]}, headers=dict(signed_in(app)))
    tokens = client.post("/api/auth/token", json={"username": "admin", "password": ADMIN_PASSWORD})
    asked = {"name": "k", "scope": scope, "expires_in": None}
    key = client.post("/api/auth/keys", json=asked, headers=dict(signed_in(app)))
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

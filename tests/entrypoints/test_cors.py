"""What may be kept, and which pages of other origins may read it (contract F2)."""

from typing import Any, Final

import pytest

import logoadmin
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.entrypoints.conftest import BOTH, Headers
from tests.gallery import WatchedStorage
from tests.sample_requests import SAMPLES, SAMPLES_IN_TURN

pytestmark = pytest.mark.rule("contract F2")

OURS: Final = "https://admin.example"
OTHERS: Final = ("https://evil.example", "https://admin.example.evil.example", "http://admin.example", "null", "*", "")
EXPOSED: Final = {"etag", "link", "retry-after", "www-authenticate", "x-request-id"}
CORS: Final = "access-control-"

ORIGINS: Final = pytest.mark.parametrize("origin", [None, OURS, *OTHERS])

PUBLIC: Final = [row for row in SAMPLES if row.is_public]
OTHER: Final = [row for row in SAMPLES_IN_TURN if not row.is_public]


@pytest.fixture
def shared(gallery: LogoAdmin) -> AppClient:
    """A client of an application that one origin may use."""
    application = logoadmin.asgi(gallery, origins=[OURS, "http://localhost:5173"], cache_seconds=7)
    return AppClient(application, base_url="http://127.0.0.1:8000", raises=False)


def from_(origin: str | None, headers: Headers | None = None) -> Headers:
    return {**(headers or {}), **({} if origin is None else {"origin": origin})}


def cors(answer: Any) -> dict[str, str]:
    headers = answer.headers
    return {name: value for name, value in headers.items() if name.startswith(CORS)}


def listed(text: str) -> set[str]:
    return {name.strip().lower() for name in text.split(",")}


@ORIGINS
def test_public_reads_are_allowed_for_all_origins_and_cacheable(shared: AppClient, origin: str | None) -> None:
    for row in PUBLIC:
        for method in ("GET", "HEAD"):
            answer = shared.request(method, row.path, headers=from_(origin))
            assert (answer.status_code, answer.headers["cache-control"]) == (200, "public, max-age=7")
            assert answer.headers["access-control-allow-origin"] == "*"
            assert listed(answer.headers["access-control-expose-headers"]) >= EXPOSED
            assert "access-control-allow-credentials" not in answer.headers
            assert answer.headers["vary"] == "Accept-Encoding"
            kept = shared.request(method, row.path, headers=from_(origin, {"if-none-match": answer.headers["etag"]}))
            assert (kept.status_code, kept.headers["cache-control"]) == (304, "public, max-age=7")
            assert cors(kept) == cors(answer)


@BOTH
def test_everything_else_is_allowed_only_for_the_listed_origins(shared: AppClient, admin: Headers) -> None:
    for row in OTHER:
        for origin in (OURS, None, *(OTHERS if row is OTHER[0] else OTHERS[:1])):
            answer = row.send(shared, from_(origin, admin))
            assert answer.headers["cache-control"] == "no-store"
            assert "origin" in listed(answer.headers["vary"])
            if origin == OURS:
                assert answer.headers["access-control-allow-origin"] == OURS
                assert listed(answer.headers["access-control-expose-headers"]) >= EXPOSED
            else:
                assert cors(answer) == {}
            assert "access-control-allow-credentials" not in answer.headers


def test_errors_are_never_cached_and_readable_where_responses_are(shared: AppClient, watched: WatchedStorage) -> None:
    def expect(method: str, path: str, status: int, allowed: str | None, **more: Any) -> None:
        for origin in (OURS, *OTHERS):
            answer = shared.request(method, path, headers=from_(origin), **more)
            assert answer.status_code == status, (method, path, answer.text)
            assert answer.headers["cache-control"] == "no-store"
            said = answer.headers.get("access-control-allow-origin")
            assert said == (allowed if allowed == "*" or origin == OURS else None)

    expect("GET", "/api/logos/99", 404, "*")
    expect("GET", "/api/logos/x", 422, "*")
    expect("GET", "/api/logos?limit=0", 422, "*")
    expect("HEAD", "/api/authors/99/logos", 404, "*")
    expect("GET", "/api/roles", 403, OURS)
    expect("PATCH", "/api/authors/1", 422, OURS, json={"nope": 1})
    expect("PATCH", "/api/authors/99", 404, OURS, json={})
    expect("POST", "/api/authors", 409, OURS, json={"user_id": 101, "username": "x"})
    expect("POST", "/api/authors", 415, OURS, content=b"{}")
    expect("PUT", "/api/authors", 405, OURS, json={})
    expect("POST", "/api/auth/token", 401, OURS, json={"username": "x", "password": "y"})
    watched.go_away()
    expect("GET", "/api/logos", 503, "*")
    expect("PATCH", "/api/authors/1", 503, OURS, json={})
    watched.fault = RuntimeError("bug")
    expect("GET", "/api/logos", 500, "*")
    expect("PATCH", "/api/authors/1", 500, OURS, json={})


# Preflights.


def test_listed_origins_may_do_everything(shared: AppClient, watched: WatchedStorage) -> None:
    watched.go_away()
    watched.asked.clear()
    for row in SAMPLES:
        answer = shared.options(row.path, headers={"origin": OURS, "access-control-request-method": row.method})
        assert (answer.status_code, answer.content) == (204, b"")
        assert answer.headers["access-control-allow-origin"] == OURS
        assert row.method.lower() in listed(answer.headers["access-control-allow-methods"])
        taken = {"authorization", "content-type", "idempotency-key", "if-match", "if-none-match", "x-request-id"}
        assert taken <= listed(answer.headers["access-control-allow-headers"])
        assert (answer.headers["vary"], answer.headers["cache-control"]) == ("Origin", "no-store")
        assert 0 < int(answer.headers["access-control-max-age"]) <= 7200
    assert watched.asked == []


@pytest.mark.parametrize("origin", OTHERS)
def test_other_origins_may_only_read_public_data(shared: AppClient, origin: str) -> None:
    for row in SAMPLES:
        answer = shared.options(row.path, headers={"origin": origin, "access-control-request-method": row.method})
        if row.is_public:
            assert (answer.status_code, answer.headers["access-control-allow-origin"]) == (204, "*")
            # A browser would cache any other methods, and then not ask again before a DELETE.
            assert listed(answer.headers["access-control-allow-methods"]) == {"get", "head"}
        else:
            assert (answer.status_code, cors(answer)) == (405, {})
            assert row.method in answer.headers["allow"]

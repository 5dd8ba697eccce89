"""Service keys, sessions and limits of signing in over HTTP (contract B4, C1, C3, C5)."""

from typing import Any, Final

import pytest

from logoadmin.domain.kernel.access import Policy
from tests.asgi import AppClient
from tests.conftest import STORAGES
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_PASSWORD, ANN_PASSWORD, NOW, FrozenClock

BOTH: Final = pytest.mark.parametrize("access", list(Policy))
EVERYWHERE: Final = pytest.mark.parametrize("watched", STORAGES, indirect=True)


def make(client: AppClient, owner: Headers, *scope: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/auth/keys", json={"name": "script", "scope": scope, **more}, headers=owner)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def with_key(made: dict[str, Any]) -> Headers:
    return {"authorization": f"Bearer {made['key']}"}


def bearer_of(tokens: dict[str, Any]) -> Headers:
    return {"authorization": f"Bearer {tokens['access_token']}"}


# Keys.


@pytest.mark.rule("contract O3")
@BOTH
@EVERYWHERE
def test_an_old_sign_in_gets_the_challenge_of_rfc_9470(client: AppClient, admin: Headers, clock: FrozenClock) -> None:
    """ASVS 7.5.1."""
    clock.pass_by(601)
    refused = client.post("/api/auth/keys", json={"name": "script", "scope": []}, headers=admin)
    assert (refused.status_code, refused.json()) == (401, {"detail": "A recent sign-in is required"})
    expected = 'Bearer error="insufficient_user_authentication", max_age=600'
    assert refused.headers["www-authenticate"] == expected
    # The token itself is as valid as before: other requests get no challenge.
    assert client.get("/api/auth/keys", headers=admin).status_code == 200
    body = {"username": "admin", "password": ADMIN_PASSWORD}
    again = bearer_of(client.post("/api/auth/token", json=body).json())
    key = with_key(make(client, again, "*"))
    refused = client.post("/api/auth/keys", json={"name": "script", "scope": []}, headers=key)
    assert (refused.status_code, "www-authenticate" in refused.headers) == (403, False)


# Limits.


@pytest.mark.rule("contract C1")
def test_a_refused_sign_in_names_the_seconds_to_wait(client: AppClient, clock: FrozenClock) -> None:
    def sign_in(username: str, password: str) -> Any:
        return client.post("/api/auth/token", json={"username": username, "password": password})

    for _ in range(10):
        assert sign_in("ann", "wrong").status_code == 401
    clock.pass_by(100)
    for password in ("wrong", ANN_PASSWORD):
        answer = sign_in("ann", password)
        assert (answer.status_code, answer.headers["retry-after"]) == (429, "200")
        assert answer.headers["cache-control"] == "no-store"
    assert sign_in("admin", ADMIN_PASSWORD).status_code == 200
    clock.pass_by(200)
    assert sign_in("ann", ANN_PASSWORD).status_code == 200


@pytest.mark.rule("contract C6")
@BOTH
def test_the_list_of_sessions_has_the_address_and_browser_of_each_sign_in(client: AppClient) -> None:
    told = {b"user-agent": "Browser/1\u00e9\u0085 (X11)".encode("latin-1") + b"x" * 300}
    body = {"username": "ann", "password": ANN_PASSWORD}
    tokens = client.post("/api/auth/token", json=body, headers=told).json()
    listed = client.get("/api/auth/sessions", headers=bearer_of(tokens))
    assert (listed.status_code, listed.headers["cache-control"], "etag" in listed.headers) == (200, "no-store", False)
    (session,) = listed.json()
    assert session.pop("session_id") not in (tokens["refresh_token"], tokens["access_token"])
    assert session == {
        "created_at": NOW,
        "refreshed_at": None,
        "expires_at": NOW + 30 * 86_400,
        "address": "192.0.2.1",
        "user_agent": ("Browser/1\u00e9 (X11)" + "x" * 300)[:256],
        "factor": "password",
        "current": True,
    }

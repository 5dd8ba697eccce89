"""The list of events over HTTP (contract O9)."""

from typing import Any, Final

import pytest

from logoadmin.domain.identity.sessions import SignIn
from logoadmin.domain.identity.users import AmendUser
from logoadmin.domain.kernel.errors import SignInRefused, TooManySignIns
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, ANN_PASSWORD, NOW, FrozenClock

pytestmark = pytest.mark.rule("contract O9")
PATH: Final = "/api/auth/events"
BROWSER: Final = {"user-agent": "Browser/1"}


def events(client: AppClient, headers: Headers, query: str = "") -> list[dict[str, Any]]:
    response = client.get(PATH + query, headers=headers)
    assert response.status_code == 200, response.text
    found: list[dict[str, Any]] = response.json()
    return found


def names_of(found: list[dict[str, Any]]) -> list[tuple[str, str]]:
    return [(event["event"], event["user_name"]) for event in found]


def key_of(client: AppClient, owner: Headers, *scope: str) -> Headers:
    made = client.post("/api/auth/keys", json={"name": "script", "scope": scope}, headers=owner)
    assert made.status_code == 201, made.text
    return {"authorization": f"Bearer {made.json()['key']}"}


def test_a_sign_in_over_http_is_listed_with_its_client(client: AppClient, admin: Headers) -> None:
    client.post("/api/auth/token", json={"username": "ann", "password": ANN_PASSWORD}, headers=BROWSER)
    first = events(client, admin)[0]
    assert first == {
        "event_id": first["event_id"],
        "at": NOW,
        "event": "signed_in",
        "user_id": 7,
        "user_name": "ann",
        "address": "192.0.2.1",
        "user_agent": "Browser/1",
        "factor": "password",
        "count": 1,
        "by_user_id": None,
        "by_user_name": None,
    }


def test_without_the_scope_users_see_only_their_own_events(
    client: AppClient, gallery: LogoAdmin, admin: Headers, ann: Headers
) -> None:
    everything = [("signed_in", "ann"), ("key_made", "admin"), ("signed_in", "admin")]
    assert names_of(events(client, admin)) == everything
    assert events(client, ann) == events(client, ann, "?user_id=7") == events(client, admin, "?user_id=7")
    assert names_of(events(client, ann)) == everything[:1]
    for query in (f"?user_id={ADMIN_ID}", "?user_id=99"):
        assert client.get(PATH + query, headers=ann).status_code == 403
    assert names_of(events(client, admin, f"?user_id={ADMIN_ID}")) == everything[1:]
    assert events(client, admin, "?user_id=99") == []
    gallery.users.amend(AmendUser(user_id=7, role_id=2))  # holds everything, from this moment
    assert names_of(events(client, ann)) == everything


@pytest.mark.rule("contract F1", "contract O9")
def test_events_have_no_version_and_raise_none(client: AppClient, gallery: LogoAdmin, admin: Headers) -> None:
    users = client.get("/api/users", headers=admin).headers["etag"]
    version = gallery.changes.version()
    listed = client.get(PATH, headers={**admin, "if-none-match": '"0", *'})
    assert (listed.status_code, "etag" in listed.headers) == (200, False)
    assert listed.headers["cache-control"] == "no-store"
    for password in (ANN_PASSWORD, "wrong"):
        client.post("/api/auth/token", json={"username": "ann", "password": password})
    key_of(client, admin)
    assert gallery.changes.version() == version
    assert client.get("/api/users", headers={**admin, "if-none-match": users}).status_code == 304
    assert len(events(client, admin)) > len(listed.json())


@pytest.mark.rule("contract C1", "contract O9")
@pytest.mark.parametrize("watched", ["sqlite"], indirect=True)
def test_a_flood_beyond_the_limits_empties_the_response_cache_once_a_minute(
    gallery: LogoAdmin, clock: FrozenClock
) -> None:
    def flood() -> bool:
        before = gallery.data_version()
        for _ in range(20):
            with pytest.raises((SignInRefused, TooManySignIns)):
                gallery.sessions.sign_in(SignIn(username="ann", password="wrong"))
        return gallery.data_version() == before

    assert gallery.data_version() is None  # it connects
    assert [flood(), flood(), flood()] == [False, True, True]
    clock.pass_by(60)
    assert [flood(), flood()] == [False, True]

"""Service keys, sessions and limits of signing in over HTTP (contract B4, C1, C3, C5)."""

import asyncio
import re
from typing import Any, Final

import pytest

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from tests.asgi import AppClient
from tests.conftest import STORAGES
from tests.entrypoints.concurrent_clients import Clients, with_clients
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD, ANN_PASSWORD, NOW, FrozenClock, WatchedStorage

BOTH: Final = pytest.mark.parametrize("access", list(Policy))
EVERYWHERE: Final = pytest.mark.parametrize("watched", STORAGES, indirect=True)


@pytest.fixture
def watched(request: pytest.FixtureRequest) -> WatchedStorage:
    """The storage that a test asks for, or else memory."""
    return WatchedStorage(request.getfixturevalue(f"{getattr(request, 'param', 'memory')}_storage"))


def make(client: AppClient, owner: Headers, *scope: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/api/auth/keys", json={"name": "script", "scope": scope, **more}, headers=owner)
    assert answer.status_code == 201, answer.text
    made: dict[str, Any] = answer.json()
    return made


def with_key(made: dict[str, Any]) -> Headers:
    return {"authorization": f"Bearer {made['key']}"}


def listed(client: AppClient, owner: Headers) -> dict[int, dict[str, Any]]:
    answer = client.get("/api/auth/keys", headers=owner)
    assert answer.status_code == 200
    return {key["key_id"]: key for key in answer.json()}


def sign_in(client: AppClient, username: str = "ann", password: str = ANN_PASSWORD) -> dict[str, Any]:
    answer = client.post("/api/auth/token", json={"username": username, "password": password})
    assert answer.status_code == 200, answer.text
    tokens: dict[str, Any] = answer.json()
    return tokens


def bearer_of(tokens: dict[str, Any]) -> Headers:
    return {"authorization": f"Bearer {tokens['access_token']}"}


def refresh(client: AppClient, token: str) -> Any:
    return client.post("/api/auth/token", json={"grant_type": "refresh_token", "refresh_token": token})


# Keys.


@pytest.mark.rule("contract C5")
def test_the_bound_of_keys_is_named(client: AppClient, admin: Headers) -> None:
    for _ in range(100 - len(listed(client, admin))):
        make(client, admin)
    answer = client.post("/api/auth/keys", json={"name": "script", "scope": []}, headers=admin)
    detail = "A user can have 100 service keys; remove one that is no longer used"
    assert (answer.status_code, answer.json()) == (409, {"detail": detail})


@pytest.mark.rule("contract C5")
@EVERYWHERE
def test_a_key_is_shown_once_and_works_as_a_bearer_token(client: AppClient, admin: Headers) -> None:
    made = make(client, admin, "roles:read", expires_in=3600)
    assert re.fullmatch(r"lga_[A-Za-z0-9_-]{43}", made["key"])
    assert (made["created_at"], made["expires_at"], made["last_used_at"]) == (NOW, NOW + 3600, None)
    assert made["scope"] == ["roles:read"]
    kept = listed(client, admin)
    assert kept[made["key_id"]] == {name: value for name, value in made.items() if name != "key"}
    assert made["key"] not in client.get("/api/auth/keys", headers=admin).text
    key = with_key(made)
    assert client.get("/api/roles", headers=key).status_code == 200
    assert client.post("/api/roles", json={"name": "x", "scope": []}, headers=key).status_code == 403
    assert client.get("/api/changes", headers=key).status_code == 403
    me = client.get("/api/auth/me", headers=key).json()
    assert (me["user_id"], me["scope"]) == (ADMIN_ID, ["roles:read"])


@pytest.mark.rule("contract C5")
@EVERYWHERE
def test_a_key_tells_when_it_was_used_last(client: AppClient, admin: Headers, clock: FrozenClock) -> None:
    made = make(client, admin, "roles:read", "authors:write")
    key = with_key(made)

    def last_used() -> Any:
        return listed(client, admin)[made["key_id"]]["last_used_at"]

    assert last_used() is None
    assert client.get("/api/roles", headers=key).status_code == 200
    assert last_used() == NOW
    clock.pass_by(60)
    assert client.patch("/api/authors/1", json={"username": "x"}, headers=key).status_code == 200
    assert last_used() == NOW + 60


@pytest.mark.rule("contract C5")
@EVERYWHERE
def test_a_key_expires(client: AppClient, admin: Headers, clock: FrozenClock) -> None:
    for_ever, for_a_while = make(client, admin, "*", expires_in=None), make(client, admin, "roles:read", expires_in=100)
    clock.pass_by(99)
    assert client.get("/api/roles", headers=with_key(for_a_while)).status_code == 200
    clock.pass_by(1)
    answer = client.get("/api/roles", headers=with_key(for_a_while))
    assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
    assert answer.json() == {"detail": "Couldn't validate credentials"}
    clock.pass_by(10**9)
    assert client.get("/api/roles", headers=with_key(for_ever)).status_code == 200


@pytest.mark.rule("contract C5")
@EVERYWHERE
def test_a_key_that_was_ended_is_good_for_nothing_at_once(client: AppClient, admin: Headers, ann: Headers) -> None:
    made = make(client, admin, "*")
    path = f"/api/auth/keys/{made['key_id']}"
    assert client.delete(path, headers=ann).status_code == 404  # not hers
    assert client.get("/api/roles", headers=with_key(made)).status_code == 200
    ended = client.delete(path, headers=admin)
    assert (ended.status_code, ended.json()) == (200, {"key_id": made["key_id"]})
    for method, asked in (("GET", "/api/roles"), ("GET", "/api/auth/me"), ("DELETE", path), ("DELETE", "/api/logos/1")):
        assert client.request(method, asked, headers=with_key(made)).status_code == 401, asked
    assert made["key_id"] not in listed(client, admin)
    assert client.delete(path, headers=admin).status_code == 404


@pytest.mark.rule("contract C5", "contract B5")
def test_a_key_does_what_its_maker_may_at_that_moment(client: AppClient, admin: Headers, ann: Headers) -> None:
    assert client.patch("/api/users/7", json={"role_id": 3}, headers=admin).status_code == 200
    key = with_key(make(client, ann, "logos:write"))
    assert client.patch("/api/logos/1", json={"name": "a"}, headers=key).status_code == 200
    assert client.patch("/api/themes/1", json={"name": "a"}, headers=key).status_code == 403
    assert client.patch("/api/users/7", json={"role_id": 1}, headers=admin).status_code == 200
    assert client.patch("/api/logos/1", json={"name": "b"}, headers=key).status_code == 403
    assert client.get("/api/auth/me", headers=key).json()["scope"] == []
    assert client.patch("/api/users/7", json={"role_id": 2}, headers=admin).status_code == 200
    assert client.get("/api/auth/me", headers=key).json()["scope"] == ["logos:write"]
    assert client.delete("/api/users/7", headers=admin).status_code == 200
    assert client.patch("/api/logos/1", json={"name": "b"}, headers=key).status_code == 401


@pytest.mark.rule("contract C5", "contract B4")
def test_nobody_makes_a_key_that_may_more_than_they_do(client: AppClient, admin: Headers, ann: Headers) -> None:
    assert client.post("/api/auth/keys", json={"name": "x", "scope": []}).status_code == 403
    assert client.post("/api/auth/keys", json={"name": "x", "scope": ["logos:write"]}, headers=ann).status_code == 403
    key = with_key(make(client, admin, "*"))
    assert client.post("/api/auth/keys", json={"name": "x", "scope": []}, headers=key).status_code == 403
    assert make(client, ann)["scope"] == []


@pytest.mark.rule("contract C5")
def test_everybody_sees_their_own_keys_only(client: AppClient, admin: Headers, ann: Headers) -> None:
    hers = make(client, ann)
    assert set(listed(client, ann)) == {hers["key_id"]}
    assert hers["key_id"] not in listed(client, admin)
    assert client.delete(f"/api/auth/keys/{hers['key_id']}", headers=admin).status_code == 404
    assert client.get("/api/auth/keys").status_code == 403


@pytest.mark.rule("contract C5")
def test_a_key_sees_the_keys_of_its_maker_and_manages_none(client: AppClient, ann: Headers) -> None:
    made = make(client, ann)
    key, path = with_key(made), f"/api/auth/keys/{made['key_id']}"
    answer = client.get("/api/auth/keys", headers=key)
    assert (answer.status_code, [each["key_id"] for each in answer.json()]) == (200, [made["key_id"]])
    assert made["key"] not in answer.text
    assert client.delete(path, headers=key).status_code == 403
    assert client.delete("/api/auth/keys/999", headers=key).status_code == 403  # and is not told which there are


@pytest.mark.rule("contract C5", "contract A19")
def test_what_looks_like_a_key_is_none(client: AppClient, admin: Headers) -> None:
    key = make(client, admin, "*")["key"]
    for wrong in (key[:-1], key + "a", key[:-1] + ("a" if key[-1] != "a" else "b"), key.upper(), "lga_", key[4:]):
        answer = client.get("/api/roles", headers={"authorization": f"Bearer {wrong}"})
        assert answer.status_code == 401, wrong
    assert client.get("/api/roles", headers={"authorization": f"Basic {key}"}).status_code == 403


# Sessions.


@pytest.mark.rule("contract C3")
@EVERYWHERE
def test_a_session_that_was_ended_is_over_at_once(client: AppClient) -> None:
    tokens, other = sign_in(client), sign_in(client)
    assert client.get("/api/auth/me", headers=bearer_of(tokens)).json()["username"] == "ann"
    assert client.post("/api/auth/revoke", headers=bearer_of(tokens)).json() == {"ended": True}
    assert client.get("/api/auth/me", headers=bearer_of(tokens)).status_code == 401
    assert refresh(client, tokens["refresh_token"]).status_code == 401
    assert client.post("/api/auth/revoke", json={"refresh_token": tokens["refresh_token"]}).json() == {"ended": False}
    assert client.get("/api/auth/me", headers=bearer_of(other)).status_code == 200
    assert client.post("/api/auth/revoke", json={"refresh_token": other["refresh_token"]}).json() == {"ended": True}
    assert client.get("/api/auth/me", headers=bearer_of(other)).status_code == 401


@pytest.mark.rule("contract C3")
@EVERYWHERE
def test_a_refresh_token_that_comes_twice_ends_its_session(client: AppClient) -> None:
    first = sign_in(client)
    second = refresh(client, first["refresh_token"])
    assert second.status_code == 200
    assert client.get("/api/auth/me", headers=bearer_of(second.json())).status_code == 200
    assert refresh(client, first["refresh_token"]).status_code == 401
    for tokens in (first, second.json()):
        assert client.get("/api/auth/me", headers=bearer_of(tokens)).status_code == 401
        assert refresh(client, tokens["refresh_token"]).status_code == 401


@pytest.mark.rule("contract C3")
@BOTH
def test_a_new_password_ends_the_other_sessions(client: AppClient, admin: Headers) -> None:
    mine, other = sign_in(client), sign_in(client)
    path = "/api/users/7/password"
    assert client.put(path, json={"password": "new"}, headers=bearer_of(mine)).status_code == 200
    assert client.get("/api/auth/me", headers=bearer_of(mine)).status_code == 200
    assert client.get("/api/auth/me", headers=bearer_of(other)).status_code == 401
    assert client.put(path, json={"password": "newer"}, headers=admin).status_code == 200
    assert client.get("/api/auth/me", headers=bearer_of(mine)).status_code == 401


@pytest.mark.rule("contract C3")
@BOTH
def test_who_one_is_is_said_with_what_one_may(client: AppClient, admin: Headers, ann: Headers) -> None:
    me = {"user_id": 7, "username": "ann", "avatar": "a.png", "role_id": 1, "created_at": NOW}
    assert client.get("/api/auth/me", headers=ann).json() == {**me, "scope": []}
    assert client.patch("/api/users/7", json={"role_id": 3}, headers=admin).status_code == 200
    expected = {**me, "role_id": 3, "scope": ["logos:write", "themes:write"]}
    assert client.get("/api/auth/me", headers=ann).json() == expected
    assert client.get("/api/auth/me", headers=admin).json()["scope"] == ["*"]
    assert client.get("/api/auth/me").status_code == 403


@pytest.mark.rule("contract C3")
def test_of_many_who_refresh_at_once_one_is_answered_at_most(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def rush(clients: Clients) -> None:
        for _ in range(5):
            body = {"username": "ann", "password": ANN_PASSWORD}
            token = (await clients[0].post("/api/auth/token", json=body)).json()["refresh_token"]
            asked = {"grant_type": "refresh_token", "refresh_token": token}
            answers = await asyncio.gather(
                *(clients[side % 2].post("/api/auth/token", json=asked) for side in range(6))
            )
            assert sorted(answer.status_code for answer in answers) == [200] + [401] * 5
            (given,) = (answer.json() for answer in answers if answer.status_code == 200)
            again = await clients[1].get("/api/auth/me", headers=bearer_of(given))
            assert again.status_code == 401

    with_clients(workers, rush)


@pytest.mark.rule("contract C5")
def test_a_key_that_one_worker_made_and_ended_is_so_for_all(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def work(clients: Clients) -> None:
        here, there = clients
        body = {"username": "admin", "password": ADMIN_PASSWORD}
        admin = bearer_of((await here.post("/api/auth/token", json=body)).json())
        made = (await here.post("/api/auth/keys", json={"name": "x", "scope": ["*"]}, headers=admin)).json()
        assert (await there.get("/api/roles", headers=with_key(made))).status_code == 200
        assert (await there.delete(f"/api/auth/keys/{made['key_id']}", headers=admin)).status_code == 200
        assert (await here.get("/api/roles", headers=with_key(made))).status_code == 401
        assert (await there.post("/api/auth/revoke", headers=admin)).json() == {"ended": True}
        assert (await here.get("/api/roles", headers=admin)).status_code == 401

    with_clients(workers, work)


# Limits.


@pytest.mark.rule("contract C1")
def test_workers_count_failures_together(workers: tuple[LogoAdmin, LogoAdmin], clock: FrozenClock) -> None:
    async def guess(clients: Clients) -> None:
        async def sign_in(side: int, password: str) -> Any:
            return await clients[side].post("/api/auth/token", json={"username": "ann", "password": password})

        for number in range(10):
            answer = await sign_in(number % 2, "wrong")
            assert (answer.status_code, answer.json()) == (401, {"detail": "Incorrect username or password"})
        clock.pass_by(100)
        for side in (0, 1):
            for password in ("wrong", ANN_PASSWORD):
                answer = await sign_in(side, password)
                assert (answer.status_code, answer.headers["retry-after"]) == (429, "200")
                assert answer.headers["cache-control"] == "no-store"
        admin = {"username": "admin", "password": ADMIN_PASSWORD}
        assert (await clients[1].post("/api/auth/token", json=admin)).status_code == 200
        clock.pass_by(200)
        assert (await sign_in(1, ANN_PASSWORD)).status_code == 200

    with_clients(workers, guess)


@pytest.mark.rule("contract C1")
def test_many_guesses_at_once_do_not_slip_through(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def guess(clients: Clients) -> None:
        body = {"username": "ann", "password": "wrong"}
        answers = await asyncio.gather(*(clients[side % 2].post("/api/auth/token", json=body) for side in range(30)))
        assert sorted(answer.status_code for answer in answers) == [401] * 10 + [429] * 20

    with_clients(workers, guess)


@pytest.mark.rule("contract C1")
def test_a_success_is_forgotten_by_all_workers(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def sign_in(clients: Clients) -> None:
        for number in range(30):
            password = ANN_PASSWORD if number % 10 == 9 else "wrong"
            body = {"username": "ann", "password": password}
            answer = await clients[number % 2].post("/api/auth/token", json=body)
            assert answer.status_code == (200 if password == ANN_PASSWORD else 401), number

    with_clients(workers, sign_in)


@pytest.mark.rule("contract C6")
@BOTH
def test_the_list_of_sessions_says_where_and_with_what_one_signed_in(client: AppClient) -> None:
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
        "current": True,
    }


@pytest.mark.rule("contract C6")
@BOTH
def test_a_session_is_ended_by_its_own_user_alone(client: AppClient, admin: Headers) -> None:
    tokens = sign_in(client)
    (session,) = client.get("/api/auth/sessions", headers=bearer_of(tokens)).json()
    path = f"/api/auth/sessions/{session['session_id']}"
    for refused in (path, "/api/auth/sessions/7", "/api/auth/sessions/none"):
        answer = client.delete(refused, headers=admin)
        assert (answer.status_code, answer.json()) == (
            404,
            {"detail": f"Session {refused.rpartition('/')[2]} not found"},
        )
    assert client.delete("/api/auth/sessions/" + "x" * 129, headers=admin).status_code == 422
    key = with_key(make(client, admin, "*"))
    for method, refused in (("GET", "/api/auth/sessions"), ("DELETE", path), ("DELETE", "/api/users/7/sessions")):
        assert client.request(method, refused, headers=key).status_code == 403
    ended = client.delete(path, headers=bearer_of(tokens))
    assert (ended.status_code, ended.json()) == (200, {"session_id": session["session_id"]})
    assert client.get("/api/auth/me", headers=bearer_of(tokens)).status_code == 401
    assert refresh(client, tokens["refresh_token"]).status_code == 401


@pytest.mark.rule("contract C6")
def test_an_administrator_ends_all_sessions_of_a_user(client: AppClient, admin: Headers) -> None:
    anns = [sign_in(client) for _ in range(3)]
    answer = client.delete("/api/users/7/sessions", headers=admin)
    assert (answer.status_code, answer.json()) == (200, {"user_id": 7, "ended": 3})
    assert {client.get("/api/auth/me", headers=bearer_of(tokens)).status_code for tokens in anns} == {401}

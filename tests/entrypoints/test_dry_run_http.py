"""``PATCH /api/roles/{role_id}?dry_run=true`` shows what a change of a role would do (contract J7)."""

import pytest

from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers

pytestmark = pytest.mark.rule("contract J7")
PATH = "/api/roles/3"


def test_a_dry_run_shows_the_effect_and_changes_nothing(client: AppClient, admin: Headers) -> None:
    before = client.get(PATH, headers=admin)
    body = {"name": "brush", "scope": ["authors:write"]}
    tried = client.patch(f"{PATH}?dry_run=true", json=body, headers={**admin, "if-match": before.headers["etag"]})
    assert (tried.status_code, "etag" in tried.headers) == (200, False)
    assert tried.json() == {"role": {**before.json(), **body}, "users": []}
    client.patch("/api/users/7", json={"role_id": 3}, headers=admin)
    user = client.get("/api/users/7", headers=admin).json()
    gains_and_loses = {"gains": ["authors:write"], "loses": before.json()["scope"]}
    assert client.patch(f"{PATH}?dry_run=true", json=body, headers=admin).json()["users"] == [
        {"user_id": 7, "username": user["username"], **gains_and_loses}
    ]
    assert client.get(PATH, headers=admin).content == before.content
    done = client.patch(f"{PATH}?dry_run=false", json=body, headers=admin)
    assert (done.json(), "etag" in done.headers) == (tried.json()["role"], True)


def test_a_dry_run_is_said_in_the_query_alone_and_refused_as_the_change(client: AppClient, admin: Headers) -> None:
    inside = client.patch(PATH, json={"name": "brush", "dry_run": True}, headers=admin)
    unclear = client.patch(f"{PATH}?dry_run=1", json={"name": "brush"}, headers=admin)
    assert [(each.status_code, each.json()["detail"][0]["loc"]) for each in (inside, unclear)] == [
        (422, ["body", "dry_run"]),
        (422, ["query", "dry_run"]),
    ]
    refused: tuple[tuple[str, dict[str, object], dict[str, str], int], ...] = (
        ("/api/roles/99", {"name": "x"}, {}, 404),
        (PATH, {"name": "member"}, {}, 400),
        (PATH, {"name": "x"}, {"if-match": '"0"'}, 412),
        ("/api/roles/2", {"scope": []}, {}, 409),
        (PATH, {"name": ""}, {}, 422),
    )
    for path, body, headers, status in refused:
        tried, done = (
            client.patch(f"{path}{query}", json=body, headers={**admin, **headers}) for query in ("?dry_run=true", "")
        )
        assert tried.status_code == done.status_code == status
        assert tried.json() == done.json()

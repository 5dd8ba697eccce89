"""The history over HTTP: who did what in which request, and undoing it (contract G, G2)."""

import json
import re
from dataclasses import replace
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from logoadmin.domain.model.access import Policy
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_ID, ANN_PASSWORD, NOW
from tests.sample_requests import SAMPLES, Sample

pytestmark = pytest.mark.rule("contract G")

BOTH: Final = pytest.mark.parametrize("access", list(Policy))
GUARDED: Final = pytest.mark.parametrize("access", [Policy.GUARDED])

# What each write is called, by its row; those that are not here keep no record.
ACTIONS: Final = {
    "POST /api/changes/{change_id}/revert": "author.removed",
    "POST /api/changes/revert": "author.removed",
    "POST /api/import": "author.created",
    "POST /api/users": "user.created",
    "PATCH /api/users/{user_id}": "user.amended",
    "DELETE /api/users/{user_id}": "user.removed",
    "DELETE /api/users/{user_id}/avatar": "user.amended",
    "PUT /api/users/{user_id}/password": "user.password_set",
    "POST /api/roles": "role.created",
    "PATCH /api/roles/{role_id}": "role.amended",
    "DELETE /api/roles/{role_id}": "role.removed",
    "POST /api/authors": "author.created",
    "PATCH /api/authors/{author_id}": "author.amended",
    "DELETE /api/authors/{author_id}": "author.removed",
    "POST /api/themes": "theme.created",
    "PATCH /api/themes/{theme_id}": "theme.amended",
    "DELETE /api/themes/{theme_id}": "theme.removed",
    "POST /api/themes/{theme_id}/authors": "theme.linked",
    "DELETE /api/themes/{theme_id}/authors": "theme.unlinked",
    "DELETE /api/themes/{theme_id}/authors/{author_id}": "theme.unlinked",
    "POST /api/logos": "logo.created",
    "PATCH /api/logos/{logo_id}": "logo.amended",
    "DELETE /api/logos/{logo_id}": "logo.removed",
    "POST /api/logos/{logo_id}/authors": "logo.linked",
    "DELETE /api/logos/{logo_id}/authors": "logo.unlinked",
    "DELETE /api/logos/{logo_id}/authors/{author_id}": "logo.unlinked",
}
WRITES: Final = pytest.mark.parametrize("row", [row for row in SAMPLES if str(row) in ACTIONS], ids=str)


def history(client: TestClient, admin: Headers, after: int | None = None) -> list[dict[str, Any]]:
    answer = client.get("/api/changes", headers=admin, params={} if after is None else {"after": after})
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.json()
    return entries


def send(client: TestClient, row: Sample, headers: Headers) -> Any:
    answer = row.send(client, headers)
    assert answer.status_code == row.status, answer.text
    return answer


# What an entry says.


@WRITES
def test_every_write_leaves_one_entry(client: TestClient, admin: Headers, row: Sample) -> None:
    last = history(client, admin)[-1]["change_id"]
    send(client, row, {**admin, "x-request-id": "the.request-1_"})
    (entry,) = history(client, admin, last)
    assert list(entry) == list(next(row for row in SAMPLES if row.template == "/api/changes").fields)
    assert entry["change_id"] == last + 1
    assert entry["at"] == NOW
    assert entry["action"] == ACTIONS[str(row)]
    assert entry["kind"] == entry["action"].partition(".")[0]
    assert (entry["user_id"], entry["request_id"]) == (ADMIN_ID, "the.request-1_")
    assert (entry["before"] is None) == entry["action"].endswith(".created")
    assert (entry["after"] is None) == entry["action"].endswith(".removed")


@pytest.mark.parametrize("row", [row for row in SAMPLES if str(row) not in ACTIONS], ids=str)
def test_what_is_no_write_of_a_record_leaves_no_entry(client: TestClient, admin: Headers, row: Sample) -> None:
    before = history(client, admin)
    send(client, row, admin)
    assert history(client, admin) == before


@pytest.mark.parametrize("row", [row for row in SAMPLES if str(row) in ACTIONS and row.token == "guarded"], ids=str)
def test_nobody_in_particular_may_have_done_it_under_open(client: TestClient, admin: Headers, row: Sample) -> None:
    last = history(client, admin)[-1]["change_id"]
    answer = send(client, row, {})
    (entry,) = history(client, admin, last)
    assert (entry["user_id"], entry["request_id"]) == (None, answer.headers["x-request-id"])


@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [
        ("a", True),
        ("A.b-c_9", True),
        ("x" * 64, True),
        ("x" * 65, False),
        ("", False),
        ("a b", False),
        ("a\tb", False),
        ("<script>", False),
        ("a,b", False),
        ("ä", False),
    ],
)
def test_the_request_is_named_as_in_its_answer(client: TestClient, admin: Headers, sent: str, is_taken: bool) -> None:
    last = history(client, admin)[-1]["change_id"]
    headers = [(b"x-request-id", sent.encode("latin-1"))]
    answer = client.post("/api/authors", json={"user_id": 5, "username": "x"}, headers=headers)
    (entry,) = history(client, admin, last)
    assert entry["request_id"] == answer.headers["x-request-id"]
    assert (entry["request_id"] == sent) is is_taken
    assert re.fullmatch("[A-Za-z0-9._-]{1,64}", entry["request_id"])


def test_requests_without_a_name_get_names_of_their_own(client: TestClient, admin: Headers) -> None:
    named = {client.get(path).headers["x-request-id"] for path in ["/api/authors"] * 50}
    assert len(named) == 50
    last = history(client, admin)[-1]["change_id"]
    for number in range(20):
        client.patch("/api/authors/1", json={"user_id": 500 + number})
    assert len({entry["request_id"] for entry in history(client, admin, last)}) == 20


@BOTH
def test_no_secret_is_in_the_history(client: TestClient, admin: Headers) -> None:
    secrets = {ANN_PASSWORD, admin["authorization"].split()[1]}
    order = {"GET": 0, "POST": 1, "PATCH": 2, "PUT": 3, "DELETE": 4}
    for row in sorted(SAMPLES, key=lambda row: order[row.method]):
        body = dict(row.body) if row.body else row.body
        if row.template in ("/api/users", "/api/users/{user_id}/password") and row.takes_body:
            body["password"] = f"hidden {row.method} secret"
            secrets.add(body["password"])
        answer = replace(row, body=body).send(client, admin)
        said = None if row.is_file else answer.json()
        if isinstance(said, dict):
            secrets |= {said[name] for name in ("access_token", "refresh_token", "key") if name in said}
    # Reverting must not reveal the secrets of users either.
    removed = history(client, admin)
    for entry in removed:
        client.post(f"/api/changes/{entry['change_id']}/revert", headers=admin)
    answer = client.get("/api/changes", headers=admin)
    assert len(answer.json()) > len(removed) > 20
    assert len(secrets) > 5
    for secret in secrets:
        assert json.dumps(secret)[1:-1] not in answer.text
    for word in ("argon2", "hash", '"password"', "lga_", "eyJ"):
        assert word not in answer.text
    assert "password" not in answer.text.replace("user.password_set", "")


# Undoing.


@pytest.mark.rule("contract G2", "contract G4")
@pytest.mark.parametrize(
    ("path", "body"), [("/api/changes/7/revert", None), ("/api/changes/revert", {"request_id": "second"})]
)
def test_a_revert_returns_the_changes_it_made(client: TestClient, admin: Headers, path: str, body: Any) -> None:
    last = history(client, admin)[-1]["change_id"]
    answer = client.post(path, json=body, headers={**admin, "x-request-id": "undone"})
    made = history(client, admin, last)
    assert (answer.status_code, answer.json()) == (200, made if path.endswith("changes/revert") else made[0])
    assert [(entry["user_id"], entry["request_id"]) for entry in made] == [(ADMIN_ID, "undone")]
    assert client.get("/api/authors/2").status_code == 404
    refused = client.post(path, json=body, headers=admin)
    assert (refused.status_code, refused.json()) == (
        409,
        {"detail": f"Author 2 was changed since, by change {last + 1}"},
    )


@pytest.mark.rule("contract G4")
def test_an_id_names_one_request_of_one_caller(client: TestClient, admin: Headers) -> None:
    last = history(client, admin)[-1]["change_id"]
    ids = []
    for name in ("a", "b", "c"):
        headers = {**admin, "x-request-id": "same"}
        answer = client.patch("/api/authors/1", json={"username": name}, headers=headers)
        ids.append(answer.headers["x-request-id"])
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    assert [entry["request_id"] for entry in history(client, admin, last)] == ids
    # Nor does a request become another one's that is to be undone.
    answer = client.post("/api/changes/revert", json={"request_id": ids[2]}, headers={**admin, "x-request-id": ids[2]})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] not in ids

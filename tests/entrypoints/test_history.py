"""The history over HTTP: who did what in which request, undoing it, and trying it before (contract G, G2, J7)."""

import re
from typing import Any

import pytest

from tests.asgi import AppClient
from tests.entrypoints.conftest import Headers

pytestmark = pytest.mark.rule("contract G")
PATH = "/api/roles/3"


def history(client: AppClient, admin: Headers, after: int | None = None) -> list[dict[str, Any]]:
    answer = client.get("/api/changes", headers=admin, params={} if after is None else {"after": after})
    assert answer.status_code == 200, answer.text
    entries: list[dict[str, Any]] = answer.json()
    return entries


@pytest.mark.parametrize(
    ("sent", "is_taken"),
    [
        *((text, True) for text in ("a", "A.b-c_9", "x" * 64)),
        *((text, False) for text in ("x" * 65, "", "a b", "a\tb", "<script>", "a,b", "ä")),
    ],
)
def test_the_history_has_the_request_id_of_the_response(
    client: AppClient, admin: Headers, sent: str, is_taken: bool
) -> None:
    last = history(client, admin)[-1]["change_id"]
    headers = [(b"x-request-id", sent.encode("latin-1"))]
    answer = client.post("/api/authors", json={"user_id": 5, "username": "x"}, headers=headers)
    (entry,) = history(client, admin, last)
    assert (entry["user_id"], entry["request_id"]) == (None, answer.headers["x-request-id"])
    assert (entry["request_id"] == sent) is is_taken
    assert re.fullmatch("[A-Za-z0-9._-]{1,64}", entry["request_id"])


@pytest.mark.rule("contract G4")
def test_a_request_id_identifies_one_request_of_one_caller(client: AppClient, admin: Headers) -> None:
    last = history(client, admin)[-1]["change_id"]
    ids = []
    for name in ("a", "b", "c"):
        headers = {**admin, "x-request-id": "same"}
        answer = client.patch("/api/authors/1", json={"username": name}, headers=headers)
        ids.append(answer.headers["x-request-id"])
    assert ids[0] == "same"
    assert len(set(ids)) == 3
    assert [entry["request_id"] for entry in history(client, admin, last)] == ids
    # Undoing a request does not reuse its id.
    answer = client.post("/api/changes/revert", json={"request_id": ids[2]}, headers={**admin, "x-request-id": ids[2]})
    assert answer.status_code == 200
    assert answer.headers["x-request-id"] not in ids


# Trying a change of a role.


@pytest.mark.rule("contract J7")
def test_a_dry_run_is_requested_only_in_the_query(client: AppClient, admin: Headers) -> None:
    inside = client.patch(PATH, json={"name": "brush", "dry_run": True}, headers=admin)
    unclear = client.patch(f"{PATH}?dry_run=1", json={"name": "brush"}, headers=admin)
    assert [(each.status_code, each.json()["detail"][0]["loc"]) for each in (inside, unclear)] == [
        (422, ["body", "dry_run"]),
        (422, ["query", "dry_run"]),
    ]


@pytest.mark.rule("contract G5")
def test_the_history_has_the_source_and_the_note_of_a_request(client: AppClient, admin: Headers) -> None:
    """The note is percent-encoded UTF-8 (contract G5)."""
    headers = {**admin, "x-request-id": "noted", "x-requested-with": "logoadmin-console"}
    noted = {**headers, "x-change-note": "%D0%9F%D0%BE%20%D0%BF%D1%80%D0%BE%D1%81%D1%8C%D0%B1%D0%B5 Ann"}
    assert client.post("/api/authors", json={"user_id": 9, "username": "Dee"}, headers=noted).status_code == 201
    (act,) = client.get("/api/acts?request_id=noted", headers=admin).json()
    assert (act["origin"], act["note"], act["names"]) == ("console", "По просьбе Ann", ["Dee"])
    (change,) = client.get("/api/changes?request_id=noted", headers=admin).json()
    assert (change["source"], change["note"]) == ("console", "По просьбе Ann")


@pytest.mark.rule("contract G5")
@pytest.mark.parametrize(
    ("note", "type_"),
    [
        ("x" * 201, "string_too_long"),
        ("%ff", "string_unicode"),
        ("%00", "string_pattern_mismatch"),
        ("%20", "string_pattern_mismatch"),
    ],
)
def test_an_invalid_note_is_refused(client: AppClient, admin: Headers, note: str, type_: str) -> None:
    """Nothing is changed then (contract G5)."""
    sent = {**admin, "x-change-note": note}
    answer = client.post("/api/authors", json={"user_id": 9, "username": "Dee"}, headers=sent)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert (problem["loc"], problem["type"]) == (["header", "X-Change-Note"], type_)
    assert client.get("/api/authors?user_id=9").json() == []

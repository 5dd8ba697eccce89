"""The history over HTTP: who did what in which request, following it, and undoing it (contract G, G2)."""

import json
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import Any, Final

import pytest
from starlette.testclient import TestClient

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from logoadmin.entrypoints.http_api.app import http_application
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ADMIN_ID, ADMIN_PASSWORD, ANN_PASSWORD, ARTWORK, NOW
from tests.sample_requests import SAMPLES, Sample

pytestmark = pytest.mark.rule("contract G")

EACH_WRITES: Final = 10
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


@WRITES
def test_a_write_that_is_refused_leaves_no_entry(client: TestClient, admin: Headers, ann: Headers, row: Sample) -> None:
    before = history(client, admin)
    missing = re.sub(r"\d+", "99", row.path, count=1)
    if missing != row.path:
        assert client.request(row.method, missing, json=row.body, headers=admin).status_code == 404
    if row.method != "POST":
        headers = {**admin, "if-match": '"0"'}
        assert row.send(client, headers).status_code == 412
    if row.token == "always" and not row.path.startswith("/api/users/7/"):
        assert row.send(client, ann).status_code == 403
    if row.takes_body:
        assert client.request(row.method, row.path, json={"nope": 1}, headers=admin).status_code == 422
    assert history(client, admin) == before


@pytest.mark.parametrize("row", [row for row in SAMPLES if str(row) in ACTIONS and row.token == "guarded"], ids=str)
def test_nobody_in_particular_may_have_done_it_under_open(client: TestClient, admin: Headers, row: Sample) -> None:
    last = history(client, admin)[-1]["change_id"]
    answer = send(client, row, {})
    (entry,) = history(client, admin, last)
    assert (entry["user_id"], entry["request_id"]) == (None, answer.headers["x-request-id"])


@WRITES
def test_what_a_service_key_does_is_done_by_its_maker(client: TestClient, admin: Headers, row: Sample) -> None:
    made = client.post("/api/auth/keys", json={"name": "script", "scope": ["*"]}, headers=admin)
    key = {"authorization": f"Bearer {made.json()['key']}"}
    last = history(client, key)[-1]["change_id"]
    # A key gives nobody a stronger role.
    body = row.body and {name: value for name, value in row.body.items() if name != "role_id"}
    answer = send(client, replace(row, body=body), key)
    (entry,) = history(client, key, last)
    assert (entry["user_id"], entry["request_id"]) == (ADMIN_ID, answer.headers["x-request-id"])


@GUARDED
def test_each_entry_names_its_own_user(client: TestClient, admin: Headers, ann: Headers) -> None:
    last = history(client, admin)[-1]["change_id"]
    assert client.put("/api/users/7/password", json={"password": "x"}, headers=ann).status_code == 200
    assert client.delete("/api/users/7/avatar", headers=ann).status_code == 200
    assert client.patch("/api/users/7", json={"role_id": 3}, headers=admin).status_code == 200
    assert client.post("/api/themes", json=ARTWORK, headers=ann).status_code == 201
    assert [entry["user_id"] for entry in history(client, admin, last)] == [7, 7, ADMIN_ID, 7]


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
    # What would have been undone of a user, too.
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


# Reading it.


@BOTH
def test_reading_the_history_takes_its_scope_under_both_policies(
    client: TestClient, admin: Headers, ann: Headers
) -> None:
    assert client.get("/api/changes").status_code == 403
    assert client.get("/api/changes").json() == {"detail": "Not authenticated"}
    assert client.get("/api/changes", headers={"authorization": "Bearer x"}).status_code == 401
    refused = client.get("/api/changes", headers=ann)
    assert (refused.status_code, refused.json()) == (403, {"detail": "Not enough permissions"})
    others = ["users:read", "users:write", "roles:read", "roles:write", "authors:write", "themes:write", "logos:write"]
    assert client.patch("/api/roles/1", json={"scope": others}, headers=admin).status_code == 200
    assert client.get("/api/changes", headers=ann).status_code == 403
    assert client.head("/api/changes", headers=ann).status_code == 403
    assert client.patch("/api/roles/1", json={"scope": ["changes:read"]}, headers=admin).status_code == 200
    assert client.get("/api/changes", headers=ann).status_code == 200
    assert client.get("/api/changes", headers=ann).headers["cache-control"] == "no-store"


def test_the_history_comes_in_pages(client: TestClient, admin: Headers) -> None:
    whole = history(client, admin)
    assert [entry["change_id"] for entry in whole] == list(range(whole[0]["change_id"], whole[-1]["change_id"] + 1))
    found: list[Any] = []
    path = "/api/changes?limit=3"
    while path:
        answer = client.get(path, headers=admin)
        found += answer.json()
        path = answer.links["next"]["url"] if "next" in answer.links else ""
    assert found == whole
    assert history(client, admin, whole[-1]["change_id"]) == []


def test_who_follows_the_history_while_others_write_misses_nothing(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    writing = threading.Event()
    admin = bearer(workers[0], "admin", ADMIN_PASSWORD)
    with TestClient(http_application(workers[0])) as here, TestClient(http_application(workers[1])) as there:
        start = history(here, admin)[-1]["change_id"]

        def write(number: int) -> list[str]:
            names: list[str] = []
            client = (here, there)[number % 2]
            while len(names) < EACH_WRITES:
                name = f"w{number}.{len(names)}"
                headers = {**admin, "x-request-id": name, "idempotency-key": name}
                path, body = (
                    ("/api/authors/1", {"user_id": 1000 + 10 * len(names) + number}),
                    ("/api/logos", ARTWORK),
                )[len(names) % 2]
                answer = client.request("PATCH" if "1" in path else "POST", path, json=body, headers=headers)
                if answer.status_code == 503:  # it waited too long for the others, and may be sent again
                    continue
                assert answer.is_success, answer.text
                names.append(name)
            return names

        def follow(client: TestClient, limit: int | None) -> list[dict[str, Any]]:
            found: list[dict[str, Any]] = []
            last, finished = start, False
            while True:
                finished = not writing.is_set()
                query = {"after": last} if limit is None else {"after": last, "limit": limit}
                answer = client.get("/api/changes", params=query, headers=admin)
                assert answer.status_code == 200
                found += answer.json()
                if answer.json():
                    last = answer.json()[-1]["change_id"]
                elif finished:
                    return found
                else:
                    time.sleep(0.005)  # asking all the time takes the processor from those who write

        writing.set()
        with ThreadPoolExecutor(8) as pool:
            writers = [pool.submit(write, number) for number in range(4)]
            followers = [pool.submit(follow, *of) for of in ((here, 3), (there, None))]
            try:
                names = {name for writer in writers for name in writer.result()}
            finally:  # or else the followers wait for ever for a writer that failed
                writing.clear()
            followed = [follower.result() for follower in followers]
        whole = history(there, admin, start)
    assert len(names) == 4 * EACH_WRITES
    assert [entry["change_id"] for entry in whole] == list(range(start + 1, start + len(whole) + 1))
    assert sorted(entry["request_id"] for entry in whole) == sorted(names)
    for found in followed:
        assert found == whole


# Undoing.


def records(client: TestClient, admin: Headers) -> list[Any]:
    lists = ("/api/users", "/api/roles", "/api/authors", "/api/themes", "/api/logos")
    return [client.get(path, headers=admin).json() for path in lists]


@pytest.mark.rule("contract G2")
@pytest.mark.parametrize(
    "row",
    [row for row in SAMPLES if ACTIONS.get(str(row), "user.password_set") != "user.password_set"],
    ids=str,
)
def test_what_was_done_over_http_is_undone_over_http(client: TestClient, admin: Headers, row: Sample) -> None:
    before = records(client, admin)
    send(client, row, admin)
    assert records(client, admin) != before
    last = history(client, admin)[-1]["change_id"]
    answer = client.post(f"/api/changes/{last}/revert", headers={**admin, "x-request-id": "undone"})
    assert answer.status_code == 200, answer.text
    assert records(client, admin) == before
    (entry,) = history(client, admin, last)
    assert answer.json() == entry
    assert (entry["user_id"], entry["request_id"]) == (ADMIN_ID, "undone")


@pytest.mark.rule("contract G2")
def test_a_revert_takes_the_write_scope_of_the_kind(client: TestClient, admin: Headers, ann: Headers) -> None:
    assert client.post("/api/changes/7/revert").status_code == 403
    assert client.post("/api/changes/7/revert", headers={"authorization": "Bearer x"}).status_code == 401
    others = ["users:write", "roles:write", "themes:write", "logos:write", "changes:read", "users:read", "roles:read"]
    for scope, status in ((), 403), (others, 403), (["authors:write"], 200):
        assert client.patch("/api/roles/1", json={"scope": list(scope)}, headers=admin).status_code == 200
        answer = client.post("/api/changes/7/revert", headers=ann)
        assert answer.status_code == status
        if status == 403:
            assert answer.json() == {"detail": "Not enough permissions"}


@pytest.mark.rule("contract G2", "contract B4")
def test_a_revert_hands_out_no_scope_that_one_does_not_hold(client: TestClient, admin: Headers, ann: Headers) -> None:
    client.patch("/api/roles/3", json={"scope": ["*"]}, headers=admin)
    client.patch("/api/roles/3", json={"scope": []}, headers=admin)
    last = history(client, admin)[-1]["change_id"]
    client.patch("/api/roles/1", json={"scope": ["roles:write"]}, headers=admin)
    assert client.post(f"/api/changes/{last}/revert", headers=ann).status_code == 403
    assert client.get("/api/roles/3", headers=admin).json()["scope"] == []


@pytest.mark.rule("contract G2")
def test_a_revert_of_nothing_is_404_and_of_no_number_422(client: TestClient, admin: Headers) -> None:
    answer = client.post("/api/changes/999/revert", headers=admin)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Change 999 not found"})
    for wrong in ("x", "-1", "2147483648", "1.0"):
        answer = client.post(f"/api/changes/{wrong}/revert", headers=admin)
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["path", "change_id"]


@pytest.mark.rule("contract G2")
def test_what_was_changed_since_is_in_the_way_and_is_named(client: TestClient, admin: Headers) -> None:
    assert client.patch("/api/authors/2", json={"username": "Benno"}, headers=admin).status_code == 200
    since = history(client, admin)[-1]["change_id"]
    answer = client.post("/api/changes/7/revert", headers=admin)
    assert (answer.status_code, answer.json()) == (
        409,
        {"detail": f"Author 2 was changed since, by change {since}"},
    )
    assert history(client, admin)[-1]["change_id"] == since
    assert client.post(f"/api/changes/{since}/revert", headers=admin).status_code == 200
    assert client.post(f"/api/changes/{since}/revert", headers=admin).status_code == 409


@pytest.mark.rule("contract G2")
def test_a_revert_whose_old_value_is_taken_by_now_is_refused(client: TestClient, admin: Headers) -> None:
    client.patch("/api/authors/2", json={"username": "Benno"}, headers=admin)
    last = history(client, admin)[-1]["change_id"]
    client.patch("/api/authors/1", json={"username": "Ben"}, headers=admin)
    answer = client.post(f"/api/changes/{last}/revert", headers=admin)
    assert (answer.status_code, answer.json()) == (400, {"detail": "Duplicate entry 'Ben' for key 'username'"})


@pytest.mark.rule("contract G2", "contract F3")
def test_a_revert_is_made_once_under_a_key(client: TestClient, admin: Headers) -> None:
    answers = [client.post("/api/changes/7/revert", headers={**admin, "idempotency-key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content


@pytest.mark.rule("contract G2")
def test_an_old_password_is_not_brought_back(client: TestClient, admin: Headers) -> None:
    client.put("/api/users/7/password", json={"password": "x"}, headers=admin)
    last = history(client, admin)[-1]["change_id"]
    answer = client.post(f"/api/changes/{last}/revert", headers=admin)
    assert answer.status_code == 409
    assert answer.json() == {"detail": f"Change {last} cannot be undone: old passwords are not kept"}


@pytest.mark.rule("contract G4")
def test_all_that_a_request_did_is_undone_and_can_be_done_again(client: TestClient, admin: Headers) -> None:
    before = records(client, admin)
    answer = client.delete("/api/authors/1", headers={**admin, "x-request-id": "mine"})
    assert answer.headers["x-request-id"] == "mine"
    after = records(client, admin)
    for request_id, state in (("mine", before), ("undo", after), ("redo", before)):
        last = history(client, admin)[-1]["change_id"]
        made = {"mine": "undo", "undo": "redo"}.get(request_id, "end")
        headers = {**admin, "x-request-id": made}
        answer = client.post("/api/changes/revert", json={"request_id": request_id}, headers=headers)
        assert answer.status_code == 200, answer.text
        assert records(client, admin) == state
        assert answer.json() == history(client, admin, last)
        assert [entry["request_id"] for entry in answer.json()] == [made]
        assert "etag" not in answer.headers


@pytest.mark.rule("contract G4")
def test_a_request_that_is_undone_already_or_was_changed_since_is_409(client: TestClient, admin: Headers) -> None:
    assert client.post("/api/changes/revert", json={"request_id": "second"}, headers=admin).status_code == 200
    since = history(client, admin)[-1]["change_id"]
    answer = client.post("/api/changes/revert", json={"request_id": "second"}, headers=admin)
    assert (answer.status_code, answer.json()) == (409, {"detail": f"Author 2 was changed since, by change {since}"})
    answer = client.post("/api/changes/revert", json={"request_id": "unknown"}, headers=admin)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Request unknown not found"})


@pytest.mark.rule("contract G4", "contract F3")
def test_a_request_is_undone_once_under_a_key(client: TestClient, admin: Headers) -> None:
    headers, body = {**admin, "idempotency-key": "k"}, {"request_id": "second"}
    answers = [client.post("/api/changes/revert", json=body, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert answers[0].content == answers[1].content
    assert len(answers[0].json()) == 1


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

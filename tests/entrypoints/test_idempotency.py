"""Requests that are sent again over HTTP, because their answer was lost (contract F3)."""

import asyncio
import random
import subprocess
import time
from collections import Counter
from contextlib import closing
from typing import Any, Final

import pytest

import logoadmin
from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.domain.changes.history import ListChanges
from logoadmin.domain.gallery.authors import ListAuthors
from logoadmin.domain.logo_admin import LogoAdmin
from tests.asgi import AppClient, clients_of
from tests.entrypoints.conftest import Headers
from tests.options import LONG, OPTIONS
from tests.sample_requests import SAMPLES, Sample
from tests.services import Service, start
from tests.write_log import ALWAYS, Address, writing

pytestmark = pytest.mark.rule("contract F3")

# For each database; more of them for a closer look.
INTERRUPTED: Final = int(OPTIONS.get("LOGOADMIN_TEST_INTERRUPTED", "1000" if LONG else "30"))
AT_ONCE: Final = 16
CHANGE_NOTHING: Final = ("/api/css/verdict", "/api/css/user-style", "/api/text/render")
# Their responses are not stored: they contain secrets, or anyone or any member may repeat the requests without limit.
NOT_KEPT: Final = (
    *("/api/auth/revoke", "/api/auth/me/notices/seen"),
    *("/api/auth/token", "/api/auth/passkey/options", "/api/auth/links", "/api/auth/keys", "/api/auth/recovery-codes"),
    *(f"/api/auth/factors/{path}" for path in ("totp", "totp/confirm", "passkeys", "passkeys/options")),
)
POSTS: Final = [row for row in SAMPLES if row.method == "POST" and row.template not in (*CHANGE_NOTHING, *NOT_KEPT)]
# Errors are not stored.
TAKES: Final = pytest.mark.parametrize("row", [row for row in POSTS if row.status < 400], ids=str)


def again(headers: Headers, key: str) -> Headers:
    return {**headers, "idempotency-key": key}


def kept(client: AppClient, admin: Headers) -> list[Any]:
    """Return all records, to check for duplicates."""
    paths = [row.path for row in SAMPLES if row.method == "GET" and row.is_list and row.is_versioned]
    answers = [client.get(path, headers=admin) for path in paths]
    keys = client.get("/api/auth/keys", headers=admin).json()
    return [*((answer.headers["etag"], answer.text) for answer in answers), [key["key_id"] for key in keys]]


@TAKES
def test_a_repeated_request_gets_the_same_response_once(client: AppClient, admin: Headers, row: Sample) -> None:
    headers = again(admin, "the key")
    first = row.send(client, headers)
    assert first.status_code == row.status
    assert "idempotency-replayed" not in first.headers
    after = kept(client, admin)
    second = row.send(client, headers)
    assert second.headers.get_list("idempotency-replayed") == ["true"]
    assert (second.status_code, second.content) == (first.status_code, first.content)
    assert second.headers.get("etag") == first.headers.get("etag")
    assert second.headers["x-request-id"] != first.headers["x-request-id"]
    assert kept(client, admin) == after


def test_a_key_reused_with_another_body_or_path_is_refused(client: AppClient, admin: Headers) -> None:
    headers = again(admin, "k")
    assert client.post("/api/logos/1/authors", json={"author_id": 2}, headers=headers).status_code == 200
    for path, body in (("/api/logos/1/authors", {"author_id": 1}), ("/api/themes/1/authors", {"author_id": 2})):
        answer = client.post(path, json=body, headers=headers)
        assert (answer.status_code, answer.json()["detail"][0]["loc"]) == (422, ["header", "Idempotency-Key"])
    # The same request in another notation.
    headers["content-type"] = "application/json; charset=utf-8"
    spaced = b' {\n"author_id" :  2 } '
    assert client.post("/api/logos/1/authors", content=spaced, headers=headers).status_code == 200


@pytest.mark.parametrize("sent", [[b""], [b"k" * 256], [b"a", b"a"], [b"a", b"b"], [b"", b"a"]])
def test_a_bad_key_is_refused(client: AppClient, admin: Headers, sent: list[bytes]) -> None:
    headers = [(name.encode(), value.encode()) for name, value in admin.items()]
    headers += [(b"idempotency-key", value) for value in sent]
    for row in POSTS:
        answer = row.send(client, headers)
        assert answer.status_code == 422
        assert [problem["loc"] for problem in answer.json()["detail"]] == [["header", "Idempotency-Key"]]


@pytest.mark.parametrize("key", ["k", "k" * 256])
def test_a_response_with_a_secret_ignores_the_key(client: AppClient, admin: Headers, key: str) -> None:
    body, headers = {"name": "script", "scope": []}, again(admin, key)
    made = [client.post("/api/auth/keys", json=body, headers=headers) for _ in range(2)]
    assert [answer.status_code for answer in made] == [201, 201]
    assert made[0].json()["key"] != made[1].json()["key"]
    assert "idempotency-replayed" not in made[1].headers


# At once.


async def test_concurrent_requests_with_one_key_run_once(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    before = len(list(workers[0].changes.list(ListChanges())))
    async with clients_of(*workers) as clients:
        for number in range(8):
            headers = {"idempotency-key": f"key {number}"}
            body = {"user_id": 1000 + number, "username": f"author {number}"}
            rush = (clients[side % 2].post("/api/authors", json=body, headers=headers) for side in range(20))
            answers = await asyncio.gather(*rush)
            assert {answer.status_code for answer in answers} == {201}
            assert len({answer.content for answer in answers}) == 1
            assert len({answer.headers["etag"] for answer in answers}) == 1
            assert len({answer.headers["x-request-id"] for answer in answers}) == 20
    assert Counter(author.user_id for author in workers[1].authors.list(ListAuthors()) if author.user_id >= 1000) == {
        1000 + number: 1 for number in range(8)
    }
    assert len(list(workers[0].changes.list(ListChanges()))) == before + 8


# A server that is killed at any moment.


class CrashHarness(Service):
    """A real service on a database, killed and restarted within hundredths of a second."""

    def __init__(self, database: str) -> None:
        command = ("-m", "tests.entrypoints.crash_harness", database)
        super().__init__(start(*command, log=None, stdin=subprocess.PIPE).process)

    def is_ready(self) -> None:
        assert self.line() == "ready\n"

    def again(self) -> None:
        """End it as a power cut would, and start the next one."""
        assert self.process.stdin is not None
        self.process.stdin.write("again\n")
        self.process.stdin.flush()

    def close(self) -> None:
        self.process.communicate(timeout=60)


@pytest.fixture
def database(url: str) -> str:
    """The URL of a new database with tables."""
    storage = open_sql_storage(url)
    storage.prepare()
    storage.close()
    return url


@pytest.mark.slow("processes are killed")
def test_a_service_killed_at_any_moment_loses_and_doubles_nothing(database: str) -> None:
    """Kill the service until ``LOGOADMIN_TEST_INTERRUPTED`` requests were interrupted, and count the authors.

    A request is interrupted when it was sent and its connection breaks before the answer.
    """
    harness = CrashHarness(database)
    service = Address(harness.address)
    harness.is_ready()
    kills, started = 0, 0.0
    with closing(harness), writing([service], "", "w1", AT_ONCE, repeats=ALWAYS) as write_log:
        while write_log.interrupted < INTERRUPTED:
            assert (kills < INTERRUPTED, write_log.wrong) == (True, []), "a kill interrupts several requests, as a rule"
            kills += 1
            # On a busy machine, most would not live long enough to answer.
            time.sleep(random.random() ** 2 * max(0.1, 3 * started))
            before = time.monotonic()
            harness.again()
            harness.is_ready()
            started = time.monotonic() - before
    assert write_log.wrong == []
    with logoadmin.connect(database) as gallery:
        authors = {author.username: author.author_id for author in gallery.authors.list(ListAuthors())}
        changes = [change for change in gallery.changes.list(ListChanges()) if change.kind == "author"]
    # Each has a response, and the author in the response exists once, with one change.
    assert authors == {name: author_id for name, (author_id, _) in write_log.acknowledged.items()}
    assert Counter(change.id for change in changes) == dict.fromkeys(authors.values(), 1)
    assert {change.action for change in changes} == {"author.created"}
    assert [change.change_id for change in changes] == sorted(change.change_id for change in changes)

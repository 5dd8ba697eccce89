"""Requests that are sent again over HTTP, because their answer was lost (contract F3)."""

import asyncio
import contextlib
import os
import random
import secrets
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

import httpx2
import pytest
from starlette.testclient import TestClient

import logoadmin
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.services.authors import ListAuthors
from logoadmin.domain.services.changes import ListChanges
from tests.entrypoints.at_once import Clients, with_clients
from tests.entrypoints.conftest import Headers
from tests.gallery import ADMIN_PASSWORD, PIECE, StandingClock
from tests.mariadb import MariaDb, free_port
from tests.rows import ROWS, Row

pytestmark = pytest.mark.rule("contract F3")

ROOT: Final = Path(__file__).parents[2]
# For each storage; more of them for a closer look.
KILLING_SECONDS: Final = float(os.environ.get("LOGOADMIN_TEST_KILLING_SECONDS", "2.5"))
POSTS: Final = [row for row in ROWS if row.method == "POST"]
TAKES: Final = pytest.mark.parametrize("row", POSTS, ids=str)


def again(headers: Headers, key: str) -> Headers:
    return {**headers, "idempotency-key": key}


def kept(client: TestClient, admin: Headers) -> list[Any]:
    """Return all that there is, to see that nothing was doubled."""
    paths = [row.path for row in ROWS if row.method == "GET" and row.is_list and row.template != "/api/auth/keys"]
    answers = [client.get(path, headers=admin) for path in paths]
    keys = client.get("/api/auth/keys", headers=admin).json()
    return [*((answer.headers["etag"], answer.text) for answer in answers), [key["key_id"] for key in keys]]


@TAKES
def test_the_same_request_again_has_the_same_answer_and_doubles_nothing(
    client: TestClient, admin: Headers, row: Row
) -> None:
    headers = again(admin, "the key")
    first = client.post(row.path, json=row.body, headers=headers)
    assert first.status_code == row.status
    after = kept(client, admin)
    for _ in range(2):
        second = client.post(row.path, json=row.body, headers=headers)
        assert (second.status_code, second.json()) == (first.status_code, first.json())
        assert second.content == first.content
        assert second.headers.get("etag") == first.headers.get("etag")
        assert second.headers["x-request-id"] != first.headers["x-request-id"]
        assert kept(client, admin) == after


@TAKES
def test_without_a_token_a_key_works_as_well(client: TestClient, row: Row) -> None:
    if row.token in ("always", "optional"):
        assert client.post(row.path, json={}, headers={"idempotency-key": "k"}).status_code == 403
        return
    answers = [client.post(row.path, json=row.body, headers={"idempotency-key": "k"}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [row.status] * 2
    assert answers[0].content == answers[1].content


@TAKES
def test_the_same_key_with_another_request_is_refused(client: TestClient, admin: Headers, row: Row) -> None:
    headers = again(admin, "the key")
    assert client.post("/api/roles", json={"name": "first", "scope": []}, headers=headers).status_code == 201
    if row.token == "never":  # who signs in is nobody yet, and nobody has keys of their own
        first = client.post("/api/authors", json={"user_id": 9, "username": "x"}, headers=again({}, "the key"))
        assert first.status_code == 201
    after = kept(client, admin)
    answer = client.post(row.path, json=row.body, headers=headers)
    assert answer.status_code == 422
    (problem,) = answer.json()["detail"]
    assert problem["loc"] == ["header", "Idempotency-Key"]
    assert set(problem) == {"loc", "msg", "type"}
    assert "the key" not in answer.text
    assert kept(client, admin) == after


def test_another_body_and_another_path_are_other_requests(client: TestClient, admin: Headers) -> None:
    headers = again(admin, "k")
    assert client.post("/api/logos/1/authors", json={"author_id": 2}, headers=headers).status_code == 200
    for path, body in (
        ("/api/logos/1/authors", {"author_id": 1}),
        ("/api/themes/1/authors", {"author_id": 2}),
        ("/api/logos/2/authors", {"author_id": 2}),
        ("/api/authors", {"user_id": 3, "username": "x"}),
        ("/api/logos", PIECE),
        ("/api/themes", PIECE),
    ):
        answer = client.post(path, json=body, headers=headers)
        assert answer.status_code == 422
        assert answer.json()["detail"][0]["loc"] == ["header", "Idempotency-Key"]
    # The same request, although it is written in another way.
    spaced = b' {\n"author_id" :  2 } '
    answer = client.post(
        "/api/logos/1/authors", content=spaced, headers={**headers, "content-type": "application/json; charset=utf-8"}
    )
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "sent",
    [[b""], [b"k" * 256], [b"a", b"a"], [b"a", b"b"], [b"", b"a"]],
    ids=["empty", "too long", "twice the same", "two", "empty and one"],
)
def test_a_bad_key_is_refused(client: TestClient, admin: Headers, sent: list[bytes]) -> None:
    headers = [(name.encode(), value.encode()) for name, value in admin.items()]
    headers += [(b"idempotency-key", value) for value in sent]
    for row in POSTS:
        answer = client.post(row.path, json=row.body, headers=headers)
        assert answer.status_code == 422
        assert [problem["loc"] for problem in answer.json()["detail"]] == [["header", "Idempotency-Key"]]


@pytest.mark.parametrize("key", ["k", "k" * 255, '"8e03978e-40d5-43dd-bc93-6894a57f9324"', "a key, with; much=in it"])
def test_a_key_may_be_any_text_of_a_header(client: TestClient, key: str) -> None:
    body = {"user_id": 3, "username": "x"}
    answers = [client.post("/api/authors", json=body, headers={"idempotency-key": key}) for _ in range(2)]
    assert [answer.status_code for answer in answers] == [201, 201]
    assert answers[0].content == answers[1].content


def test_a_bad_key_and_a_bad_body_are_reported_together(client: TestClient) -> None:
    answer = client.post("/api/authors", json={"user_id": -1, "username": "x"}, headers={"idempotency-key": ""})
    assert [problem["loc"] for problem in answer.json()["detail"]] == [
        ["header", "Idempotency-Key"],
        ["body", "user_id"],
    ]


def test_other_methods_do_not_look_at_a_key(client: TestClient, admin: Headers) -> None:
    headers = again(admin, "k")
    for name in ("one", "two"):
        answer = client.patch("/api/authors/1", json={"username": name}, headers=headers)
        assert (answer.status_code, answer.json()["username"]) == (200, name)
    for key in ("k", "", "k" * 256):
        assert client.get("/api/authors/1", headers=again(admin, key)).status_code == 200
        assert client.patch("/api/authors/1", json={"username": "x" + key[:3]}, headers=again(admin, key)).is_success
    assert client.delete("/api/logos/1", headers=headers).status_code == 200
    assert client.delete("/api/logos/1", headers=headers).status_code == 404


def test_what_was_refused_may_be_asked_again_under_the_same_key(client: TestClient) -> None:
    headers = {"idempotency-key": "k"}
    for body, status in (
        ({"user_id": 101, "username": "x"}, 409),
        ({"user_id": -1, "username": "x"}, 422),
        ({"user_id": 5, "username": "x"}, 201),
        ({"user_id": 5, "username": "x"}, 201),
    ):
        assert client.post("/api/authors", json=body, headers=headers).status_code == status


def test_a_key_is_forgotten_after_a_day(client: TestClient, clock: StandingClock) -> None:
    body, headers = {"user_id": 5, "username": "x"}, {"idempotency-key": "k"}
    assert client.post("/api/authors", json=body, headers=headers).status_code == 201
    clock.pass_by(86_399)
    assert client.post("/api/authors", json=body, headers=headers).status_code == 201
    clock.pass_by(1)
    assert client.post("/api/authors", json=body, headers=headers).status_code == 409


# At once.


def test_many_at_once_with_one_key_are_one(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def rush(clients: Clients) -> None:
        for number in range(8):
            headers = {"idempotency-key": f"key {number}"}
            body = {"user_id": 1000 + number, "username": f"author {number}"}
            answers = await asyncio.gather(
                *(clients[side % 2].post("/api/authors", json=body, headers=headers) for side in range(20))
            )
            assert {answer.status_code for answer in answers} == {201}
            assert len({answer.content for answer in answers}) == 1
            assert len({answer.headers["etag"] for answer in answers}) == 1
            assert len({answer.headers["x-request-id"] for answer in answers}) == 20

    before = len(list(workers[0].changes.list(ListChanges())))
    with_clients(workers, rush)
    assert Counter(author.user_id for author in workers[1].authors.list(ListAuthors()) if author.user_id >= 1000) == {
        1000 + number: 1 for number in range(8)
    }
    assert len(list(workers[0].changes.list(ListChanges()))) == before + 8


def test_of_many_at_once_with_one_key_and_other_bodies_one_is_done(workers: tuple[LogoAdmin, LogoAdmin]) -> None:
    async def rush(clients: Clients) -> None:
        headers = {"idempotency-key": "k"}
        bodies = [{"user_id": 1000 + number, "username": f"author {number}"} for number in range(10)]
        answers = await asyncio.gather(
            *(clients[side % 2].post("/api/authors", json=body, headers=headers) for side, body in enumerate(bodies))
        )
        assert sorted(answer.status_code for answer in answers) == [201] + [422] * 9

    with_clients(workers, rush)
    assert len([author for author in workers[1].authors.list(ListAuthors()) if author.user_id >= 1000]) == 1


# A server that is killed at any moment.


class Mortal:
    """A real service on a database, on a port of its own, that can be killed and started again."""

    def __init__(self, database: str, directory: Path) -> None:
        self.port = free_port()
        self._directory = directory
        paths = [str(ROOT), str(ROOT / "src"), *filter(None, [os.environ.get("PYTHONPATH")])]
        self._environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("LOGOADMIN_")},
            "PYTHONPATH": os.pathsep.join(paths),
            "LOGOADMIN_DATABASE": database,
            "LOGOADMIN_ARGON2_MEMORY_KIB": "8",
            "LOGOADMIN_ARGON2_PASSES": "1",
            "LOGOADMIN_LOG_LEVEL": "error",
        }
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Start it; it listens a while later."""
        command = [sys.executable, "-m", "logoadmin", "serve", "--port", str(self.port)]
        self._process = subprocess.Popen(
            command, cwd=self._directory, env=self._environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )

    def listens(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._process.returncode
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", self.port)) == 0

    def kill(self) -> None:
        """End it as a power cut would."""
        if self._process is not None:
            self._process.kill()
            self._process.wait(10)


def until_answered(port: int, user_id: int, chance: random.Random, stop: float) -> tuple[int, dict[str, Any], int]:
    """Ask for an author under one key until there is an answer; return the number of the author, and the tries."""
    body = {"user_id": user_id, "username": f"author {user_id}"}
    key = secrets.token_hex(16)
    tries = 0
    while True:
        tries += 1
        assert time.monotonic() < stop, "no answer"
        if chance.random() < 0.3:
            throw_away(port, key, body)
        try:
            answer = httpx2.post(
                f"http://127.0.0.1:{port}/api/authors", json=body, headers={"idempotency-key": key}, timeout=5
            )
        except httpx2.TransportError:
            time.sleep(0.01)
            continue
        if answer.status_code == 503:
            time.sleep(0.02)
            continue
        assert answer.status_code == 201, answer.text
        return user_id, answer.json(), tries


def throw_away(port: int, key: str, body: dict[str, Any]) -> None:
    """Send a request and be gone before its answer is there."""
    content = b'{"user_id":%d,"username":"%s"}' % (body["user_id"], body["username"].encode())
    head = (
        f"POST /api/authors HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\n"
        f"idempotency-key: {key}\r\ncontent-length: {len(content)}\r\n\r\n"
    )
    with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=2) as connection:
        connection.sendall(head.encode() + content)


@pytest.fixture(params=["sqlite", "mariadb"])
def database(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a new database with tables and roles."""
    url = f"sqlite:///{tmp_path / 'killed.db'}"
    if request.param == "mariadb":
        mariadb: MariaDb = request.getfixturevalue("mariadb")
        url = mariadb.url_of(mariadb.new_database())
    return url


@pytest.fixture
def mortal(database: str, tmp_path: Path) -> Iterator[Mortal]:
    """A service on it."""
    environment = {**os.environ, "LOGOADMIN_ADMIN_PASSWORD": ADMIN_PASSWORD, "LOGOADMIN_ARGON2_MEMORY_KIB": "8"}
    made = subprocess.run(
        [sys.executable, "-m", "logoadmin", "init", "--database", database],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        timeout=30,
        check=False,
    )
    assert made.returncode == 0, made.stderr
    service = Mortal(database, tmp_path)
    yield service
    service.kill()


def test_a_service_that_is_killed_at_any_moment_loses_and_doubles_nothing(mortal: Mortal, database: str) -> None:
    seed = secrets.randbits(32)
    chance = random.Random(seed)
    done = threading.Event()
    answered: list[tuple[int, dict[str, Any], int]] = []
    end = time.monotonic() + KILLING_SECONDS

    def client(number: int) -> None:
        mine, user_id = random.Random(seed + number), number * 100_000
        while not done.is_set():
            user_id += 1
            answered.append(until_answered(mortal.port, user_id, mine, end + 20))

    kills = 0
    mortal.start()
    with ThreadPoolExecutor(4) as pool:
        clients = [pool.submit(client, number) for number in range(1, 5)]
        try:
            while time.monotonic() < end or (kills < 3 and time.monotonic() < end + 15):
                while not mortal.listens():
                    time.sleep(0.005)
                time.sleep(chance.random() ** 2 * 0.3)
                mortal.kill()
                kills += 1
                mortal.start()
        finally:
            done.set()
        for ended in clients:
            ended.result()
    mortal.kill()

    assert kills >= 2
    assert answered
    assert max(tries for _, _, tries in answered) > 1, seed
    with logoadmin.connect(database) as gallery:
        authors = {author.author_id: author for author in gallery.authors.list(ListAuthors())}
        changes = [change for change in gallery.changes.list(ListChanges()) if change.kind == "author"]
    # Every one of them has an answer, and what was answered is there, once.
    assert sorted(author.user_id for author in authors.values()) == sorted(user_id for user_id, _, _ in answered), seed
    for user_id, said, _ in answered:
        author = authors[said["author_id"]]
        assert (author.user_id, author.username, author.created_at) == (user_id, said["username"], said["created_at"])
    assert Counter(change.id for change in changes) == dict.fromkeys(authors, 1), seed
    assert {change.action for change in changes} == {"author.created"}
    assert [change.change_id for change in changes] == sorted(change.change_id for change in changes)

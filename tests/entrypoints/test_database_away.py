"""A database outage, seen from outside: 503 in time on everything that needs it, and an automatic recovery."""

import contextlib
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest
from starlette.testclient import TestClient

import logoadmin
from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.server.middleware import LoggedRequests
from tests.entrypoints.conftest import Headers, bearer
from tests.gallery import ADMIN_PASSWORD, FrozenClock, gallery_on, stock
from tests.mariadb import MariaDbServer
from tests.sample_requests import SAMPLES
from tests.services import comes_true

pytestmark = [pytest.mark.slow("servers go away, hang, and are waited for"), pytest.mark.own_mariadb]

IN_TIME = 2.0
BACK_WITHIN = 5.0


@pytest.fixture
def gallery(mariadb_storage: SqlStorage, clock: FrozenClock) -> LogoAdmin:
    made = gallery_on(mariadb_storage, clock)
    stock(made)
    return made


@pytest.fixture
def client(gallery: LogoAdmin) -> Iterator[TestClient]:
    with TestClient(logoadmin.asgi(gallery)) as client:
        yield client


@pytest.fixture
def admin(gallery: LogoAdmin) -> Headers:
    return bearer(gallery, "admin", ADMIN_PASSWORD)


# The sign-in methods are in the settings.
ASKED = [row for row in SAMPLES if row.template != "/api/auth/ways"]


def ask_everything(client: TestClient, admin: Headers, server: str) -> None:
    def ask(row_number: int) -> float:
        row = ASKED[row_number % len(ASKED)]
        start = time.monotonic()
        answer = row.send(client, admin)
        spent = time.monotonic() - start
        assert answer.status_code == 503, (str(row), answer.text)
        assert answer.json() == {"detail": f"Cannot connect to the database server at {server}"}
        assert int(answer.headers["retry-after"]) > 0
        return spent

    # Many at once: no call waits for the timeouts of others.
    with ThreadPoolExecutor(16) as callers:
        assert max(callers.map(ask, range(2 * len(ASKED)))) < IN_TIME


def comes_back(client: TestClient) -> None:
    comes_true(lambda: client.get("/api/logos/1").status_code == 200, BACK_WITHIN)


@pytest.mark.rule("contract A20", "spec §Errors 503")
@pytest.mark.parametrize(
    ("leave", "come_back"),
    [
        (MariaDbServer.stop, MariaDbServer.start),
        (MariaDbServer.kill, MariaDbServer.start),
        (MariaDbServer.freeze, MariaDbServer.resume),
    ],
    ids=["stopped", "killed", "hanging"],
)
def test_every_operation_reports_an_unavailable_database_in_time(
    client: TestClient,
    admin: Headers,
    running: MariaDbServer,
    leave: Callable[[MariaDbServer], None],
    come_back: Callable[[MariaDbServer], None],
) -> None:
    comes_back(client)
    leave(running)
    ask_everything(client, admin, running.address)
    come_back(running)
    comes_back(client)


@pytest.mark.rule("contract K3")
def test_the_cause_is_logged_but_not_in_any_response(
    gallery: LogoAdmin, admin: Headers, mariadb: MariaDbServer, caplog: pytest.LogCaptureFixture
) -> None:
    held = contextlib.closing(mariadb.connect())
    with TestClient(LoggedRequests(logoadmin.asgi(gallery))) as client, held as holder, holder.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute("SELECT * FROM state FOR UPDATE")
        with caplog.at_level("INFO", "logoadmin.access"):
            answer = client.post("/api/authors", json={"user_id": 70, "username": "Zoe"}, headers=admin)
            assert client.get("/api/logos/1").status_code == 200
            assert client.get("/api/logos/x").status_code == 422
    assert answer.status_code == 503
    assert answer.json() == {"detail": f"Cannot connect to the database server at {mariadb.address}"}
    lines = [record.getMessage() for record in caplog.records if record.name == "logoadmin.access"]
    assert [re.sub(r" \d+\.\d ms \S+ \S+ \S+$", "", line) for line in lines] == [
        "POST /api/authors 503 too_busy",
        "GET /api/logos/1 200",
        "GET /api/logos/x 422",
    ]

"""A database outage seen from outside, and servers whose sessions begin with other variables (contract A20, H2)."""

import contextlib
import json
import re
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from starlette.testclient import TestClient

import logoadmin
from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.server.middleware import LoggedRequests
from tests.entrypoints.conftest import Headers, Run, assert_one_line, bearer
from tests.gallery import ADMIN_PASSWORD, FrozenClock, gallery_on, stock
from tests.mariadb import MariaDbServer
from tests.sample_requests import SAMPLES
from tests.services import comes_true

pytestmark = [pytest.mark.slow("servers go away"), pytest.mark.own_mariadb, pytest.mark.rule("contract H2")]

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
    [("stop", "start"), ("kill", "start"), ("freeze", "resume")],
)
def test_every_operation_reports_an_unavailable_database_in_time(
    client: TestClient, admin: Headers, running: MariaDbServer, leave: str, come_back: str
) -> None:
    comes_back(client)
    getattr(running, leave)()
    ask_everything(client, admin, running.address)
    getattr(running, come_back)()
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
    expected = {"detail": f"Cannot connect to the database server at {mariadb.address}"}
    assert (answer.status_code, answer.json()) == (503, expected)
    lines = [record.getMessage() for record in caplog.records if record.name == "logoadmin.access"]
    assert [re.sub(r" \d+\.\d ms \S+ \S+ \S+$", "", line) for line in lines] == [
        "POST /api/authors 503 too_busy",
        "GET /api/logos/1 200",
        "GET /api/logos/x 422",
    ]


# Sessions with other variables than on a new server, as hosters set them.

_HOSTERS_MODE = "REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ONLY_FULL_GROUP_BY,ANSI,STRICT_ALL_TABLES"
TURNED = (
    f"sql_mode = '{_HOSTERS_MODE}'",
    "sql_mode = 'ORACLE,NO_BACKSLASH_ESCAPES,PAD_CHAR_TO_FULL_LENGTH,HIGH_NOT_PRECEDENCE'",
    "autocommit = 0, completion_type = 2",
    "sql_mode = '', sql_safe_updates = 1, sql_auto_is_null = 1, sql_quote_show_create = 0",
    "sql_select_limit = 1, sql_big_selects = 0, max_join_size = 1",
    "tx_isolation = 'READ-UNCOMMITTED', tx_read_only = 1, foreign_key_checks = 0, unique_checks = 0",
    "time_zone = '+11:00', lc_messages = 'ru_RU', lc_time_names = 'ru_RU', default_storage_engine = MEMORY",
    "NAMES latin1 COLLATE latin1_german1_ci",
    "max_statement_time = 0.000001, innodb_lock_wait_timeout = 1",
    "group_concat_max_len = 4, max_sort_length = 64, div_precision_increment = 0",
)
RECORDS = [
    {"kind": "author", "author_id": 1, "user_id": 101, "username": 'Ann "A" \\ Ö'},
    {"kind": "author", "author_id": 2, "user_id": 102, "username": "Боб"},
    {
        "kind": "logo",
        "logo_id": 1,
        "name": "Two || 'three'",
        "preview_url": "https://example.org/a.png",
        "target": "forum",
        "custom_css": 'a::before { content: "\\201c" }',
        "active": True,
        "author_ids": [2, 1],
    },
]


# Each change is tried with those that turn the most, a release with all.
@pytest.mark.parametrize(
    "turned", [*TURNED[:3], *(pytest.param(each, marks=pytest.mark.release) for each in TURNED[3:])]
)
def test_nothing_depends_on_session_defaults(running: MariaDbServer, run: Run, tmp_path: Path, turned: str) -> None:
    running.execute(f'SET GLOBAL init_connect = "SET {turned}"')
    url = running.url_of(running.new_database())
    file, out = tmp_path / "in.jsonl", tmp_path / "out.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in RECORDS))
    for command in (("init",), ("import", str(file)), ("export", str(out), "--kind", "author", "--kind", "logo")):
        ended = run(*command, "--database", url)
        assert (ended.code, "Traceback" in ended.err) == (0, False), (command, ended)
    exported = [json.loads(line) for line in out.read_text().splitlines()]
    assert [{key: value for key, value in each.items() if key != "created_at"} for each in exported] == RECORDS
    file.write_text(json.dumps({**RECORDS[0], "username": "Anna"}))
    assert "1 author (1 amended)" in run("import", str(file), "--database", url).out
    assert run("user", "remove", "admin", "--database", url).code == 1  # the last administrator stays


def test_a_variable_that_cannot_be_set_is_named(mariadb_server: MariaDbServer, run: Run) -> None:
    mariadb_server.stop()
    mariadb_server.start("--skip-innodb", "--default-storage-engine=Aria")
    try:
        ended = run("init", "--database", mariadb_server.url)
    finally:
        mariadb_server.stop()
        mariadb_server.start()
    assert_one_line(ended, 1, "it refuses a setting that every session", "innodb_lock_wait_timeout", "let sessions")

"""The checks of a database server, each against the problem it finds."""

from collections.abc import Iterator

import pytest

from logoadmin.adapters.sql_storage.checks import check_database
from logoadmin.adapters.sql_storage.databases import mysql_checks
from logoadmin.checks import Verdict
from tests.mariadb import PASSWORD, MariaDbServer

pytestmark = [
    pytest.mark.rule("contract K4"),
    pytest.mark.slow("a server is restarted after each test"),
    pytest.mark.own_mariadb,
]

# These do not sync to disk, for speed.
OF_TESTS = {"durability"}


@pytest.fixture
def server(running: MariaDbServer) -> Iterator[MariaDbServer]:
    """A server with a gallery, which a test may alter."""
    running.empty()
    yield running
    assert PASSWORD not in str(found(running))


def found(server: MariaDbServer, processes: int = 1, options: str = "") -> dict[str, tuple[Verdict, str]]:
    return {
        result.check: (result.verdict, f"{result.text}; {result.cure}")
        for result in check_database(f"{server.url}{options}", processes)
        if result.verdict is not Verdict.OK and result.check not in OF_TESTS
    }


def test_a_healthy_server_passes_every_check(server: MariaDbServer) -> None:
    assert found(server) == {}
    names = [result.check for result in check_database(server.url, 1)]
    of_server = ("product", "packets", "connections", "durability", "collation")
    assert names == ["database", "tables", *of_server, "schema", "writing"]


def test_the_server_must_allow_the_connections_of_all_processes(server: MariaDbServer) -> None:
    server.execute("SET GLOBAL max_connections = 100")
    assert found(server, 2) == {}
    assert found(server, 3)["connections"][0] is Verdict.WARNING
    verdict, text = found(server, 5)["connections"]
    assert (verdict, "up to 105" in text, "max_connections 100" in text) == (Verdict.WRONG, True, True)
    server.execute("ALTER USER 'logoadmin'@'127.0.0.1' WITH MAX_USER_CONNECTIONS 5")
    try:
        assert "max_user_connections above 21 times" in found(server)["connections"][1]
    finally:
        server.execute("ALTER USER 'logoadmin'@'127.0.0.1' WITH MAX_USER_CONNECTIONS 0")


def test_the_server_must_accept_the_packet_of_the_largest_row(server: MariaDbServer) -> None:
    assert "packets" not in found(server)  # 16 MiB, the default
    server.execute("SET GLOBAL max_allowed_packet = 8388608")
    verdict, text = found(server)["packets"]
    assert (verdict, "is 8 MiB" in text, "set max_allowed_packet = 15M" in text) == (Verdict.WRONG, True, True)


def test_missing_durability_is_warned_about(server: MariaDbServer) -> None:
    def durability() -> str:
        return next(result.text for result in check_database(server.url, 1) if result.check == "durability")

    assert "innodb_flush_log_at_trx_commit = 2" in durability()
    server.execute("SET GLOBAL innodb_flush_log_at_trx_commit = 1")
    assert durability() == "every commit is written to disk"
    server.stop()
    server.start("--log-bin=changes", "--sync-binlog=0")
    assert "sync_binlog = 0" in durability()


@pytest.mark.rule("contract A6")
def test_changed_tables_are_wrong(server: MariaDbServer) -> None:
    server.execute(
        "ALTER TABLE authors DROP INDEX uq_authors_username",
        "ALTER TABLE roles MODIFY name TEXT COLLATE utf8mb4_nopad_bin",
        "ALTER TABLE users MODIFY username VARCHAR(64) COLLATE utf8mb4_nopad_bin NOT NULL COMMENT 'harmless'",
        "ALTER TABLE acts CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci",
    )
    problems = found(server)
    assert problems["schema"][1].startswith("missing or changed: roles.name, uq_authors_username; restore")
    verdict, text = problems["collation"]
    assert (verdict, "acts.request_id" in text, "roles" in text) == (Verdict.WRONG, True, False)
    assert text.endswith("ALTER TABLE each table CONVERT TO CHARACTER SET utf8mb4 COLLATE utf8mb4_nopad_bin")


def test_a_check_that_cannot_run_is_left_to_operators(server: MariaDbServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        mysql_checks, "session_variables", lambda connection, *_: connection.exec_driver_sql("SELECT nothing")
    )
    problems = found(server)
    assert {problems[check][0] for check in ("packets", "connections")} == {Verdict.WARNING}
    assert "look at it by hand" in problems["packets"][1]


def test_a_server_that_is_too_old_is_wrong(server: MariaDbServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(mysql_checks.OLDEST, True, (99, 0))
    verdict, text = found(server)["product"]
    assert (verdict, "MariaDB 99.0 or newer" in text) == (Verdict.WRONG, True)

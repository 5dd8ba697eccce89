"""What a cluster requires of the storage, as far as one server shows it; ``tests/cluster`` has a real one."""

import contextlib
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from importlib import import_module
from typing import Any, Final

import pytest
from sqlalchemy import text

from logoadmin import Cause, ServiceKey, StorageUnavailable
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.databases import mysql, mysql_connections
from logoadmin.adapters.sql_storage.databases.mysql_connections import LEASE_TABLE, Lease, classify
from logoadmin.adapters.sql_storage.failures import DriverErrors, FailureKind
from logoadmin.domain.kernel.kinds import AUTHORS, ROLES, USERS
from logoadmin.domain.kernel.records import Author, Kind, PasswordHash, Role, User
from logoadmin.ports.gallery_storage import Withdrawal
from logoadmin.ports.history_storage import StoredResponse
from logoadmin.ports.identity_storage import Count, Session
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import add_user, atomic
from tests.mariadb import MariaDb

pytestmark = pytest.mark.rule("contract H5")

pymysql = import_module("pymysql")

# Every write changes the row `state`

KEY: Final = ServiceKey(1, "key", (), 0, None, None)


def fill(uow: UnitOfWork) -> None:
    uow.records(ROLES).add(Role(1, "member", (), 0))
    add_user(uow, User(7, "ann", None, 1, 0), PasswordHash("hash"))
    uow.identity.sessions.add(Session("session", 7, 0, 100))
    uow.identity.sessions.add_refresh_token("token", "session")
    uow.identity.keys.add(KEY, 7, "key hash")
    uow.secrets.put("secret", "value")
    uow.identity.counts.put({"ann": Count(1, 100)})
    uow.stored_responses.add(StoredResponse("first", "response", 100))
    uow.withdrawals.put(Withdrawal(Kind.LOGO, 1, 100))


def use(uow: UnitOfWork, at: int) -> None:
    uow.identity.keys.update(replace(KEY, last_used_at=at))


def writes(storage: SqlStorage) -> int:
    with storage._pool.engine.connect() as connection:
        return int(connection.execute(text("SELECT SUM(writes) FROM state")).scalar_one())


@pytest.mark.parametrize(
    "work",
    [
        lambda uow: uow.identity.sessions.use_refresh_token("token", 50),
        lambda uow: uow.identity.sessions.add_refresh_token("another", "session"),
        lambda uow: uow.identity.sessions.update(Session("session", 7, 0, 200, 50)),
        lambda uow: uow.identity.sessions.end("session"),
        lambda uow: uow.identity.sessions.forget_expired(100, 9),
        lambda uow: use(uow, 50),
        lambda uow: uow.identity.keys.remove(1, 7),
        lambda uow: uow.identity.passwords.set(7, PasswordHash("another")),
        lambda uow: uow.secrets.put("secret", "another"),
        lambda uow: uow.identity.counts.put({"ann": Count(2, 100)}),
        lambda uow: uow.identity.counts.put({"bob": Count(1, 100)}),
        lambda uow: uow.identity.counts.take_back(["ann"], "ann"),
        lambda uow: uow.stored_responses.add(StoredResponse("second", "response", 100)),
        lambda uow: uow.withdrawals.put(Withdrawal(Kind.LOGO, 1, 100, "reason")),
        lambda uow: uow.withdrawals.drop(Kind.LOGO, 1),
        lambda uow: uow.records(USERS).update(User(7, "ann", "avatar", 1, 0)),
    ],
)
def test_a_write_outside_the_history_is_counted_but_raises_no_version(
    sql_storage: SqlStorage, work: Callable[[UnitOfWork], object]
) -> None:
    sql_storage.write(fill)
    before, version = writes(sql_storage), sql_storage.read(lambda uow: uow.changes.last_id())
    sql_storage.write(work)
    assert writes(sql_storage) == before + 1
    assert sql_storage.read(lambda uow: uow.changes.last_id()) == version


def test_a_write_without_changes_is_not_counted_and_each_transaction_once(sql_storage: SqlStorage) -> None:
    sql_storage.write(fill)
    assert writes(sql_storage) == 1
    sql_storage.write(lambda uow: uow.identity.counts.take_back(["nobody"]))
    assert writes(sql_storage) == 1

    def use_often(storage: Storage) -> None:
        for at in (60, 61, 62):
            storage.write(partial(use, at=at))

    atomic(sql_storage, use_often)
    assert sql_storage.try_write(partial(use, at=70))
    assert writes(sql_storage) == 3


def test_no_statement_sets_session_state_behind_a_proxy(mariadb_storage: SqlStorage) -> None:
    said: list[str] = []
    executed = pymysql.cursors.Cursor.execute

    def noting(cursor: Any, query: str, args: Any = None) -> Any:
        said.append(query)
        return executed(cursor, query, args)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pymysql.cursors.Cursor, "execute", noting)
        mariadb_storage.snapshot(lambda uow: uow.records(AUTHORS).get(1))
        mariadb_storage.write(lambda uow: uow.records(AUTHORS).add(Author(1, 1, "ann", 0)))
    begun = [query for query in said if "TRANSACTION" in query and not query.startswith("SET SESSION ")]
    assert begun == ["START TRANSACTION", "START TRANSACTION"]
    assert not [query for query in said if "LOCK(" in query or ";" in query]


@pytest.mark.parametrize("knows", [True, False], ids=["MariaDB", "server without cluster support"])
def test_reads_wait_for_writes_on_other_servers(mariadb: MariaDb, monkeypatch: pytest.MonkeyPatch, knows: bool) -> None:
    if not knows:
        monkeypatch.setattr(mysql, "FRESH", "SET SESSION no_such_variable = 1")
    with contextlib.closing(open_sql_storage(mariadb.url)) as storage, storage._pool.engine.connect() as connection:
        found = connection.exec_driver_sql("SELECT @@wsrep_sync_wait").scalar()
        assert found == (1 if knows else 0)
        assert storage.read(lambda uow: uow.changes.last_id()) >= 0


@pytest.mark.rule("contract A20", "contract H5")
@pytest.mark.parametrize(
    ("number", "words", "kind", "cause"),
    [
        (1213, "Deadlock found when trying to get lock", FailureKind.CONFLICT, Cause.TOO_BUSY),
        (1020, "Record has changed since last read in table 'state'", FailureKind.CONFLICT, Cause.TOO_BUSY),
        (1412, "Table definition has changed, please retry transaction", FailureKind.CONFLICT, Cause.TOO_BUSY),
        (1684, "Table was skipped since it is being modified", FailureKind.CONFLICT, Cause.TOO_BUSY),
        (1047, "WSREP has not yet prepared node for application use", FailureKind.USELESS, Cause.CUT_OFF),
        (1105, "Maximum writeset size exceeded", FailureKind.BUSY, Cause.TOO_LARGE),
        (1105, "Unknown error", FailureKind.USELESS, Cause.OUT_OF_REACH),
        (1180, 'Got error 5 "Input/output error" during COMMIT', FailureKind.BUSY, Cause.IO_ERROR),
        (1205, "Lock wait timeout exceeded; try restarting transaction", FailureKind.BUSY, Cause.TOO_BUSY),
        (1317, "Query execution was interrupted", FailureKind.BUSY, Cause.TOO_BUSY),
        (1114, "The table is full", FailureKind.BUSY, Cause.DISK_FULL),
        (1021, "Disk full", FailureKind.BUSY, Cause.DISK_FULL),
        (1712, "Index is corrupted", FailureKind.BUSY, Cause.CORRUPT),
    ],
)
def test_errors_of_servers_are_classified(number: int, words: str, kind: FailureKind, cause: Cause) -> None:
    driver_errors = DriverErrors(classify, pymysql)
    # As the driver creates it from a packet of the server.
    packet = b"\xff" + number.to_bytes(2, "little") + b"#HY000" + words.encode()
    with pytest.raises(pymysql.Error) as caught:
        pymysql.err.raise_mysql_exception(packet)
    before = driver_errors.failure(caught.value)
    assert before is not None
    assert (before.kind, before.cause, before.code, before.unsure) == (kind, cause, number, False)
    at_commit = driver_errors.failure_of_commit(caught.value)
    assert at_commit is not None
    # Only after a conflict it is certain that nothing was stored, so nothing else is retried.
    assert at_commit.unsure is (kind is not FailureKind.CONFLICT)


@pytest.mark.rule("contract A20", "contract H5")
@pytest.mark.parametrize(
    ("number", "times", "commits"),
    [(1213, 1, 2), (1213, 9, 4), *((number, 1, 1) for number in (1047, 1180, 1105, 1205, 1317, 2013, 9999))],
)
def test_a_commit_is_retried_after_a_conflict_but_not_with_an_unknown_outcome(
    mariadb_storage: SqlStorage, monkeypatch: pytest.MonkeyPatch, number: int, times: int, commits: int
) -> None:
    execute, seen = pymysql.cursors.Cursor.execute, list[int]()

    def failing(cursor: Any, query: str, args: Any = None) -> Any:
        if query == "COMMIT":
            seen.append(number)
            if len(seen) <= times:
                cursor.connection.rollback()
                raise pymysql.err.OperationalError(number, "no")
        return execute(cursor, query, args)

    monkeypatch.setattr(pymysql.cursors.Cursor, "execute", failing)

    def add(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(Author(1, 1, "ann", 0))

    is_stored = times == 1 and number == 1213
    with contextlib.nullcontext() if is_stored else pytest.raises(StorageUnavailable):
        mariadb_storage.write(add)
    assert len(seen) == commits
    # It blocks no other access to the server.
    assert mariadb_storage.read(lambda uow: uow.changes.last_id()) == 0


@pytest.fixture
def server(mariadb_url: str) -> Iterator[SqlStorage]:
    with contextlib.closing(open_sql_storage(mariadb_url)) as storage:
        yield storage


@pytest.fixture
def _short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leases last a second."""
    monkeypatch.setattr(mysql_connections, "DURATION", 1)


def execute(storage: SqlStorage, statement: str) -> Any:
    with storage._pool.engine.connect() as connection:
        return connection.exec_driver_sql(statement)


def lease_of_a_dead_holder(storage: SqlStorage, seconds: int) -> None:
    execute(storage, f"INSERT INTO {LEASE_TABLE} VALUES ('migrations', 'dead', UNIX_TIMESTAMP() + {seconds})")


@pytest.mark.usefixtures("_short")
@pytest.mark.slow("it waits for seconds")
def test_a_lease_has_one_holder_that_renews_it(server: SqlStorage) -> None:
    held: list[int] = []

    def hold(number: int) -> None:
        lease = Lease("trial", "server", {"mysql_engine": "InnoDB"})
        with server._pool.engine.connect() as connection, lease.held(connection, wait=20):
            held.append(number)
            time.sleep(2.5 if number == 0 else 0.01)
            held.append(number)

    # At once, and without the table.
    with ThreadPoolExecutor(3) as executor:
        list(executor.map(hold, range(3)))
    assert sorted(held[::2]) == [0, 1, 2]
    assert held[::2] == held[1::2]


@pytest.mark.usefixtures("_short")
@pytest.mark.slow("it waits for seconds")
def test_the_lease_of_a_dead_holder_expires(server: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    server.prepare()
    lease_of_a_dead_holder(server, 1)
    began = time.monotonic()
    server.prepare()
    assert 0.5 < time.monotonic() - began < 4
    with server._pool.engine.connect() as connection:
        assert connection.exec_driver_sql(f"SELECT * FROM {LEASE_TABLE}").all() == []
    lease_of_a_dead_holder(server, 60)
    monkeypatch.setattr(mysql, "LONG_WAIT", 0)
    with pytest.raises(StorageUnavailable) as caught:
        server.prepare()
    assert caught.value.cause is Cause.TOO_BUSY


@pytest.mark.usefixtures("_short")
@pytest.mark.slow("it waits for seconds")
@pytest.mark.rule("contract K7")
def test_a_lease_lasts_no_longer_if_the_clock_is_set_back(server: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    server.prepare()
    lease_of_a_dead_holder(server, 86_400)
    monkeypatch.setattr(mysql, "LONG_WAIT", 5)
    began = time.monotonic()
    server.prepare()
    assert 2 < time.monotonic() - began < 5


def test_the_lease_is_released_on_failure_and_its_loss_is_reported(server: SqlStorage) -> None:
    with pytest.raises(ValueError, match="failed"):
        server.prepare(lambda _: (_ for _ in ()).throw(ValueError("failed")))
    began = time.monotonic()
    server.prepare()
    assert time.monotonic() - began < 5

    with pytest.raises(StorageUnavailable):
        server.prepare(lambda _: execute(server, f"UPDATE {LEASE_TABLE} SET holder = 'another'") and None)

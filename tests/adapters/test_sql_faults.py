"""Behaviour when the database fails: an error in time, no secrets, and no change made twice."""

import contextlib
import socket
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, cast

import pytest
from sqlalchemy import text
from sqlalchemy.exc import ProgrammingError

from logoadmin import Cause, StorageUnavailable
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.transaction import Transaction
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author, Change, Kind, PasswordHash, User
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.gallery import add_user, atomic
from tests.mariadb import PASSWORD, MariaDbServer

pytestmark = [
    pytest.mark.rule("contract A20"),
    pytest.mark.slow("servers go away, hang, and are waited for"),
    pytest.mark.own_mariadb,
]

# Contract A20.
IN_TIME = 2.0
RECOVERED = 5.0


def author(author_id: int) -> Author:
    return Author(author_id, author_id, f"author {author_id}", 0)


def read(storage: Storage) -> object:
    return storage.read(lambda uow: uow.records(AUTHORS).get(1))


def add(storage: Storage, author_id: int = 1) -> None:
    storage.write(lambda uow: uow.records(AUTHORS).add(author(author_id)))


def refused(storage: SqlStorage, call: Callable[[SqlStorage], object] = read, cause: Cause | None = None) -> float:
    """Make a call that must fail as in the contract; return its duration in seconds."""
    began = time.monotonic()
    with pytest.raises(StorageUnavailable) as caught:
        call(storage)
    took = time.monotonic() - began
    assert took < IN_TIME
    assert str(caught.value) == f"Cannot connect to the database server at {storage.server}"
    assert caught.value.__cause__ is None
    assert caught.value.__context__ is None
    assert cause in (None, caught.value.cause)
    return took


def recovered(storage: Storage) -> None:
    """Wait until the storage has recovered, which must be soon."""
    began = time.monotonic()
    while True:
        with contextlib.suppress(StorageUnavailable):
            read(storage)
            return
        assert time.monotonic() - began < RECOVERED
        time.sleep(0.02)


@pytest.fixture(autouse=True)
def no_secrets(caplog: pytest.LogCaptureFixture) -> Iterator[None]:
    """The log contains neither the password nor a traceback."""
    with caplog.at_level("INFO"):
        yield
    assert PASSWORD not in caplog.text
    assert "%70" not in caplog.text
    assert "Traceback" not in caplog.text


def opened(url: str, **options: Any) -> contextlib.closing[SqlStorage]:
    return contextlib.closing(open_sql_storage(url, **options))


# Lost connections; tests/entrypoints/test_database_away.py tests servers that stop and return


@pytest.mark.parametrize("full", [False, True], ids=["accepts and sends nothing", "does not accept"])
def test_an_unresponsive_address_times_out(mariadb: MariaDbServer, full: bool) -> None:
    with contextlib.ExitStack() as stack:
        silent = stack.enter_context(socket.socket())
        silent.bind(("127.0.0.1", 0))
        silent.listen(0)
        for _ in range(4 if full else 0):
            waiting = stack.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(silent.getsockname())
        storage = stack.enter_context(opened(mariadb.url_of("gallery", port=silent.getsockname()[1])))
        refused(storage, cause=Cause.NO_ANSWER)


# Connections that break


def test_a_closed_connection_is_replaced(mariadb: MariaDbServer, mariadb_storage: SqlStorage) -> None:
    for call in (read, add, lambda storage: storage.snapshot(lambda uow: uow.records(AUTHORS).get(1))):
        read(mariadb_storage)
        mariadb.end_connections()
        call(mariadb_storage)


# Writes made together


def change(change_id: int) -> Change:
    return Change(change_id, 0, None, "author.created", Kind.AUTHOR, 1, None, {"username": "author 1"}, None)


def add_author(storage: Storage, number: int) -> None:
    def work(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(Author(uow.records(AUTHORS).next_id(), number, f"author {number}", 0))

    storage.write(work)


def numbers(storage: Storage) -> list[int]:
    return storage.read(lambda uow: [found.user_id for found in uow.records(AUTHORS).page(-1, 99)])


@pytest.mark.rule("contract G")
@pytest.mark.parametrize(
    ("bad", "says"),
    [
        (replace(change(2), at=None), "(?i)null"),  # type: ignore[arg-type]  # what no column takes
        (change(1), "(?i)unique|duplicate"),
    ],
    ids=["no time", "duplicate id"],
)
def test_a_change_refused_by_a_database_rolls_back_everything(sql_storage: SqlStorage, bad: Change, says: str) -> None:
    add_author(sql_storage, 1)
    sql_storage.write(lambda uow: uow.changes.add([change(1)]))

    def adds_a_bad_change(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).add(Author(uow.records(AUTHORS).next_id(), 2, "two", 0))
        uow.changes.add([bad])

    def calls(storage: Storage) -> None:
        add_author(storage, 3)
        # Even if the error is suppressed, nothing is stored without the rest.
        with contextlib.suppress(StorageUnavailable):
            storage.write(adds_a_bad_change)
        with contextlib.suppress(StorageUnavailable):
            add_author(storage, 4)

    with pytest.raises(Exception, match=says):
        atomic(sql_storage, calls)
    assert numbers(sql_storage) == [1]
    atomic(sql_storage, lambda storage: add_author(storage, 5))
    assert numbers(sql_storage) == [1, 5]


# A server that is running but cannot work


@pytest.mark.parametrize("held", ["authors", "state"])
def test_a_long_held_lock_blocks_no_readers(mariadb: MariaDbServer, mariadb_storage: SqlStorage, held: str) -> None:
    add(mariadb_storage)
    with contextlib.closing(mariadb.connect()) as holder, holder.cursor() as cursor:
        cursor.execute("BEGIN")
        cursor.execute(f"SELECT * FROM {held} FOR UPDATE")
        refused(
            mariadb_storage,
            lambda storage: storage.write(lambda uow: uow.records(AUTHORS).update(author(1))),
            Cause.TOO_BUSY,
        )
        assert read(mariadb_storage) == author(1)
        assert mariadb_storage.snapshot(lambda uow: uow.changes.last_id()) == 0
        cursor.execute("ROLLBACK")
    add(mariadb_storage, 2)


# A record and its change


def add_both(uow: UnitOfWork, fault: Callable[[], object] = list, at: int = 0) -> None:
    """Store the next author and its change, with a fault before, between or after them."""
    for step in range(3):
        if step == at:
            fault()
        if step == 0:
            uow.records(AUTHORS).add(author(uow.records(AUTHORS).next_id()))
        if step == 1:
            uow.changes.add([change(uow.changes.last_id() + 1)])


def both(uow: UnitOfWork) -> object:
    """Return the ids of records and of their changes, and the counts."""
    authors = [by.author_id for by in uow.records(AUTHORS).page(-1, 99)]
    return authors, [of.change_id for of in uow.changes.page(0, 99)], uow.changes.last_id()


@pytest.mark.rule("contract G", "contract H2")
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_server_that_is_killed_keeps_every_committed_write_and_no_other(
    running: MariaDbServer, mariadb_storage: SqlStorage, at: int
) -> None:
    mariadb_storage.write(add_both)
    refused(mariadb_storage, lambda storage: storage.write(lambda uow: add_both(uow, running.kill, at)))
    running.start()
    recovered(mariadb_storage)
    assert mariadb_storage.read(both) == ([1], [1], 1)
    mariadb_storage.write(add_both)
    running.kill()
    running.start()
    recovered(mariadb_storage)
    assert mariadb_storage.read(both) == ([1, 2], [1, 2], 2)


@pytest.mark.rule("contract G")
@pytest.mark.parametrize("at", [0, 1, 2])
def test_a_connection_lost_between_a_record_and_its_change_neither_loses_nor_repeats(
    mariadb: MariaDbServer, mariadb_storage: SqlStorage, at: int
) -> None:
    runs: list[int] = []

    def lose() -> None:
        runs.append(1)
        if len(runs) == 1:
            mariadb.end_connections()

    mariadb_storage.write(lambda uow: add_both(uow, lose, at))
    assert len(runs) == 2
    assert mariadb_storage.read(both) == ([1], [1], 1)


def test_a_long_search_does_not_block_others(sql_storage: SqlStorage, caplog: pytest.LogCaptureFixture) -> None:
    read(sql_storage)
    refused(sql_storage, partial(count, digits=12))
    code = sqlite3.SQLITE_INTERRUPT if sql_storage.embedded else 1969
    (said,) = caplog.messages
    assert said.startswith(f"{sql_storage.server}: it is too busy")
    assert f"(too_busy, {code})" in said
    read(sql_storage)


def count(storage: SqlStorage, digits: int) -> object:
    """Count the numbers with this many digits, one by one."""
    digit = " UNION ALL ".join(f"SELECT {digit} AS digit" for digit in range(10))
    slow = text("SELECT COUNT(*) FROM " + ", ".join(f"({digit}) AS d{place}" for place in range(digits)))
    return storage.read(lambda uow: cast(Any, uow.records(AUTHORS))._transaction.page(slow, {})[0])


def fail_to_commit(
    storage: SqlStorage, fail: Callable[[Callable[[], None]], None], *, is_kept: bool, together: bool
) -> None:
    """Make writes whose commit fails, after it was done if ``is_kept``; no retry follows."""
    commit, runs = Transaction.commit, []

    def committed(transaction: Transaction) -> None:
        if is_kept:
            commit(transaction)
        fail(lambda: commit(transaction))

    def calls(storage: Storage) -> None:
        runs.append(1)
        for number in (1, 2, 3) if together else (1,):
            add_author(storage, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Transaction, "commit", committed)
        refused(storage, lambda storage: atomic(storage, calls) if together else calls(storage))
    recovered(storage)
    assert runs == [1]
    assert numbers(storage) == (([1, 2, 3] if together else [1]) if is_kept else [])


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("kind", ["OperationalError", "IntegrityError"])
@pytest.mark.parametrize("together", [True, False])
def test_an_unknown_commit_is_not_retried(sql_storage: SqlStorage, kind: str, is_kept: bool, together: bool) -> None:
    def fail(_: Callable[[], None]) -> None:
        raise getattr(sql_storage._pool.engine.dialect.loaded_dbapi, kind)(1180, "Got error 5 during COMMIT")

    fail_to_commit(sql_storage, fail, is_kept=is_kept, together=together)


@pytest.mark.parametrize("is_kept", [True, False])
@pytest.mark.parametrize("together", [True, False])
def test_a_commit_whose_connection_is_lost_is_not_retried(
    mariadb_storage: SqlStorage, mariadb: MariaDbServer, is_kept: bool, together: bool
) -> None:
    def fail(commit: Callable[[], None]) -> None:
        mariadb.end_connections()
        commit()

    fail_to_commit(mariadb_storage, fail, is_kept=is_kept, together=together)


@pytest.mark.rule("contract H5")
def test_a_read_only_server_is_left_for_a_better_one(mariadb: MariaDbServer, mariadb_storage: SqlStorage) -> None:
    read(mariadb_storage)
    mariadb.execute("SET GLOBAL read_only = 1")
    try:
        refused(mariadb_storage, add, Cause.READ_ONLY)
    finally:
        mariadb.execute("SET GLOBAL read_only = 0")
    recovered(mariadb_storage)
    add(mariadb_storage)


def test_callers_without_a_free_connection_fail_fast(sql_storage: SqlStorage, mariadb: MariaDbServer) -> None:
    # A storage's name does not give the URL of its file, so all connections to a file are held.
    on_server = sql_storage.server == mariadb.address
    with opened(mariadb.url, connections=1) if on_server else contextlib.nullcontext(sql_storage) as storage:
        connections = 1 if on_server else 2 * storage.concurrent_reads + 15
        held, done = threading.Barrier(connections + 1, timeout=RECOVERED), threading.Event()

        def hold(uow: UnitOfWork) -> None:
            uow.records(AUTHORS).get(1)
            held.wait()
            done.wait(RECOVERED)

        with ThreadPoolExecutor(connections) as executor:
            futures = [executor.submit(storage.read, hold) for _ in range(connections)]
            held.wait()
            refused(storage)
            done.set()
            for future in futures:
                future.result()
        read(storage)


@pytest.mark.rule("contract A21")
def test_a_programming_error_is_not_blamed_on_the_database(sql_storage: SqlStorage) -> None:
    with pytest.raises(Exception) as caught:  # noqa: PT011 (whatever the driver raises)
        sql_storage.write(lambda uow: add_user(uow, User(1, "ann", None, 99, 0), PasswordHash("$argon2id$secret")))
    assert not isinstance(caught.value, StorageUnavailable)
    assert "secret" not in repr(caught.value) + str(caught.value)
    add(sql_storage)


def test_a_query_is_one_statement(mariadb_storage: SqlStorage) -> None:
    with mariadb_storage._pool.engine.connect() as connection, pytest.raises(ProgrammingError, match="1064"):
        connection.exec_driver_sql("SELECT 1; SELECT 2")
    assert mariadb_storage.data_version() is None


# A file


@pytest.mark.rule("spec §Errors 503")
def test_a_locked_file_can_be_read_and_not_written(sqlite_storage: SqlStorage, tmp_path: Path) -> None:
    read(sqlite_storage)
    with contextlib.closing(sqlite3.connect(tmp_path / "gallery.db", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        refused(sqlite_storage, add, Cause.TOO_BUSY)
        read(sqlite_storage)
        other.execute("ROLLBACK")
    add(sqlite_storage)


@pytest.mark.parametrize("instead", ["nothing", "no database", "half a database"])
def test_a_missing_file_is_detected_and_a_file_in_its_place_is_not_touched(
    sqlite_storage: SqlStorage, tmp_path: Path, sqlite_file: Path, instead: str
) -> None:
    file = tmp_path / "gallery.db"
    add(sqlite_storage)
    assert sqlite_storage.server == file.name
    file.rename(tmp_path / "moved.db")
    content = {"no database": b"Dear diary, " * 1000, "half a database": sqlite_file.read_bytes()[:5000]}.get(instead)
    if content is not None:
        file.write_bytes(content)
    with opened(f"sqlite:///{file}") as fresh:
        for storage in (sqlite_storage, fresh):
            refused(storage, cause=Cause.CANNOT_OPEN if content is None else Cause.CORRUPT)
            refused(storage, lambda storage: add(storage, 2))
    assert (file.read_bytes() if file.exists() else None) == content
    (tmp_path / "moved.db").rename(file)
    assert read(sqlite_storage) == author(1)
    add(sqlite_storage, 2)


@pytest.mark.rule("contract H2")
def test_every_answered_write_is_on_disk(sqlite_storage: SqlStorage) -> None:
    def ask(pragma: str) -> object:
        with sqlite_storage._pool.engine.connect() as connection:
            return connection.exec_driver_sql(f"PRAGMA {pragma}").scalar()

    assert (ask("journal_mode"), ask("synchronous"), ask("foreign_keys")) == ("wal", 2, 1)

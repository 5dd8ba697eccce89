"""Reads on the event loop's own thread: at once or not at all, whatever else happens to the file."""

import os
import shutil
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final, TypeVar

import pytest

from logoadmin.adapters.prometheus_metrics import PrometheusMetrics
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.databases.sqlite import nonblocking as sqlite_nonblocking
from logoadmin.domain.model.errors import NotFound
from logoadmin.domain.model.kinds import AUTHORS
from logoadmin.domain.model.records import Author
from logoadmin.ports.metrics import Metrics
from logoadmin.ports.storage import UnitOfWork, WouldBlock

Answer = TypeVar("Answer")

pytestmark = [pytest.mark.rule("contract A20"), pytest.mark.rule("contract E1")]

ANN: Final = Author(1, 7, "Ann", 5)
# Far less than any wait for a lock, far more than a busy machine takes.
AT_ONCE: Final = 0.25


@pytest.fixture
def file(tmp_path: Path, sqlite_file: Path) -> Path:
    return Path(shutil.copy(sqlite_file, tmp_path / "gallery.db"))


@pytest.fixture
def storage(file: Path) -> Iterator[SqlStorage]:
    with closing(opened(file)) as storage:
        storage.write(lambda uow: uow.records(AUTHORS).add(ANN))
        with pytest.raises(WouldBlock):  # it connects for the next time
            found(storage)
        yield storage


def opened(file: Path, metrics: Metrics | None = None) -> SqlStorage:
    return open_sql_storage(f"sqlite:///{file}", metrics=metrics)


def look(uow: UnitOfWork) -> Author | None:
    return uow.records(AUTHORS).get(1)


def found(storage: SqlStorage) -> Author | None:
    """Return the author, in one moment."""
    return storage.nonblocking(lambda: storage.snapshot(look))


@contextmanager
def at_once() -> Iterator[None]:
    began = time.monotonic()
    yield
    assert time.monotonic() - began < AT_ONCE


@contextmanager
def held(file: Path, *statements: str) -> Iterator[None]:
    """Hold the locks of these statements meanwhile."""
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        for statement in statements:
            connection.execute(statement)
        yield


def test_it_finds_what_was_committed_last(storage: SqlStorage, file: Path) -> None:
    assert found(storage) == storage.nonblocking(lambda: storage.read(look)) == ANN
    with closing(opened(file)) as other:
        for name in ("Anne", "Anna"):
            other.write(lambda uow, name=name: uow.records(AUTHORS).update(Author(1, 7, name, 5)))  # type: ignore[misc]  # has a default
            assert getattr(found(storage), "username", None) == name


def test_who_writes_keeps_nobody_waiting(storage: SqlStorage, file: Path) -> None:
    with held(file, "BEGIN IMMEDIATE", "DELETE FROM authors"), at_once():
        assert found(storage) == ANN


def test_a_lock_that_keeps_readers_out_is_not_waited_for(storage: SqlStorage, file: Path) -> None:
    storage.close()
    with held(file, "PRAGMA locking_mode = EXCLUSIVE", "BEGIN EXCLUSIVE"), at_once():
        for _ in range(3):
            with pytest.raises(WouldBlock):
                found(storage)
    assert [again(storage) for _ in range(2)] == [ANN, ANN]


def again(storage: SqlStorage) -> Author | None:
    """Return the author, at the second try if the first one connects."""
    try:
        return found(storage)
    except WouldBlock:
        return found(storage)


def test_a_write_is_refused_before_it_begins(storage: SqlStorage) -> None:
    def remove(uow: UnitOfWork) -> None:
        uow.records(AUTHORS).remove(1)

    writes: list[Callable[[], object]] = [
        lambda: storage.write(remove),
        lambda: storage.try_write(remove),
        lambda: storage.atomic(lambda: storage.write(remove)),
    ]
    for write in writes:
        with pytest.raises(WouldBlock):
            storage.nonblocking(write)
    assert found(storage) == ANN
    # The thread may write again.
    storage.write(remove)
    assert found(storage) is None


def test_of_two_threads_one_goes_elsewhere(storage: SqlStorage) -> None:
    entered, go_on = threading.Event(), threading.Event()

    def linger(uow: UnitOfWork) -> Author | None:
        entered.set()
        assert go_on.wait(10)
        return look(uow)

    answers: list[Author | None] = []
    first = threading.Thread(
        target=lambda: answers.append(storage.nonblocking(lambda: storage.snapshot(linger))), daemon=True
    )
    first.start()
    assert entered.wait(10)
    with at_once(), pytest.raises(WouldBlock):
        found(storage)
    assert storage.snapshot(look) == ANN
    go_on.set()
    first.join(10)
    assert answers == [ANN]


def test_a_long_statement_is_ended(storage: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite_nonblocking, "_STATEMENT_WAIT", -1.0)

    def many(uow: UnitOfWork) -> Author | None:
        for number in range(2, 900):
            uow.records(AUTHORS).get(number)
        return look(uow)

    with pytest.raises(WouldBlock):
        storage.nonblocking(lambda: storage.snapshot(many))
    monkeypatch.undo()
    assert storage.snapshot(many) == again(storage) == ANN


def test_the_end_of_a_moment_may_come_too_late_as_well(storage: SqlStorage) -> None:
    def linger(uow: UnitOfWork) -> Author | None:
        author = look(uow)
        storage._thread.nonblocking.ends = 0.0
        return author

    # Of COMMIT, which takes two steps, each five hundredth one is looked at.
    for _ in range(1_200):
        with suppress(WouldBlock):
            assert storage.nonblocking(lambda: storage.snapshot(linger)) == ANN


def test_a_connection_whose_statement_was_ended_stays_and_with_it_what_is_known_of_commits(
    storage: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = storage.data_version()
    monkeypatch.setattr(sqlite_nonblocking, "_STATEMENT_WAIT", -1.0)
    with pytest.raises(WouldBlock):
        storage.nonblocking(lambda: [storage.read(look) for _ in range(1_000)])
    monkeypatch.undo()
    assert found(storage) == ANN
    assert storage.data_version() == version is not None


def test_a_file_that_was_replaced_is_not_read_any_more(storage: SqlStorage, file: Path, sqlite_file: Path) -> None:
    other = shutil.copy(sqlite_file, file.with_name("other.db"))
    for log in ("gallery.db-wal", "gallery.db-shm"):
        file.with_name(log).unlink()
    os.replace(other, file)
    with pytest.raises(WouldBlock):
        found(storage)
    assert found(storage) is None
    file.unlink()
    with pytest.raises(WouldBlock):
        found(storage)


def test_what_the_work_raises_passes_and_leaves_nothing_open(storage: SqlStorage, file: Path) -> None:
    def fail(uow: UnitOfWork) -> None:
        look(uow)
        raise NotFound("Author", 2)

    for _ in range(3):
        with pytest.raises(NotFound):
            storage.nonblocking(lambda: storage.snapshot(fail))
    # A moment that is still seen keeps the log from being taken into the file.
    with closing(sqlite3.connect(file)) as connection:
        assert connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0
    assert found(storage) == ANN


@pytest.mark.usefixtures("storage")
def test_a_call_is_counted_once(file: Path) -> None:
    metrics = PrometheusMetrics()
    with closing(opened(file, metrics)) as counted:
        assert counted.snapshot(look) == again(counted) == ANN
        with pytest.raises(WouldBlock):
            counted.nonblocking(lambda: counted.write(look))
    assert 'logoadmin_database_calls_total{outcome="ok"} 2.0' in metrics.text(None, "SQLite")


def test_while_the_database_fails_a_call_is_left_to_those_who_find_out_why(storage: SqlStorage) -> None:
    storage.timed_out(writing=False)
    with pytest.raises(WouldBlock):
        found(storage)


def test_however_often_commits_are_looked_for_the_connection_stays(
    storage: SqlStorage, monkeypatch: pytest.MonkeyPatch
) -> None:
    # SQLite adds up the steps of a statement that it knows, from one run of it to the next.
    monkeypatch.setattr(sqlite_nonblocking, "_STATEMENT_WAIT", 0.0)
    assert found(storage) == ANN
    assert {storage.data_version() for _ in range(1_000)} == {storage.data_version()} != {None}


def test_a_file_that_cannot_be_opened_is_left_to_those_who_find_out_why(storage: SqlStorage, file: Path) -> None:
    file.unlink()
    file.mkdir()
    for _ in range(2):
        assert storage.data_version() is None
        with pytest.raises(WouldBlock):
            found(storage)

"""A forked process has its own storage: the socket or file of a connection belongs to the process that opened it."""

import os
import sqlite3
from collections.abc import Callable
from typing import Any, Final

import pytest

from logoadmin.adapters.sql_storage import SqlStorage
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author
from logoadmin.ports.storage import UnitOfWork

pytestmark = [
    pytest.mark.rule("contract H6"),
    # Threads that earlier tests left idle; the forked process uses nothing of theirs.
    pytest.mark.filterwarnings("ignore:.*multi-threaded:DeprecationWarning"),
]

NUMBER: Final = 40


def in_fork(work: Callable[[], object]) -> int:
    """Return a new process that does some work, and exits with 0 on success."""
    process = os.fork()
    if process == 0:
        status = 1
        try:
            work()
            status = 0
        finally:
            os._exit(status)
    return process


def has_succeeded(process: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]) == 0


def author(storage: SqlStorage, number: int) -> Author | None:
    return storage.read(lambda uow: uow.records(AUTHORS).get(number))


def add_authors(storage: SqlStorage, first: int) -> None:
    """Add authors, and find each of them."""
    for number in range(first, first + NUMBER):
        one = Author(number, number, f"author {number}", 5)

        def add(uow: UnitOfWork, one: Author = one) -> None:
            uow.records(AUTHORS).add(one)

        storage.write(add)
        assert author(storage, number) == one


@pytest.mark.parametrize("name", ["sqlite_storage", "mariadb_storage"])
def test_forked_processes_write_concurrently(request: pytest.FixtureRequest, name: str) -> None:
    storage: SqlStorage = request.getfixturevalue(name)
    add_authors(storage, 1)  # so that a connection is idle
    forked = in_fork(lambda: add_authors(storage, 1_000))
    add_authors(storage, 2_000)
    assert has_succeeded(forked)
    assert all(author(storage, first + NUMBER - 1) for first in (1, 1_000, 2_000))


def test_a_forked_process_opens_the_file_again(sqlite_storage: SqlStorage, monkeypatch: pytest.MonkeyPatch) -> None:
    assert sqlite_storage.data_version() is None  # it reconnects
    assert author(sqlite_storage, 1) is None
    assert sqlite_storage.data_version() is not None
    connect: Callable[..., sqlite3.Connection] = sqlite3.connect
    opened = []

    def connected(*given: Any, **options: Any) -> sqlite3.Connection:
        opened.append(given)
        return connect(*given, **options)

    monkeypatch.setattr(sqlite3, "connect", connected)
    assert sqlite_storage.data_version() is not None
    assert author(sqlite_storage, 1) is None
    assert not opened

    def look() -> None:
        assert sqlite_storage.data_version() is None
        assert len(opened) == 1
        assert author(sqlite_storage, 1) is None
        assert len(opened) == 2

    assert has_succeeded(in_fork(look))

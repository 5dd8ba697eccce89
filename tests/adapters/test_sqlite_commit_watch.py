"""Whether anybody has committed to a file is found out without waiting, whatever else happens to the file."""

import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.domain.kernel.kinds import AUTHORS
from logoadmin.domain.kernel.records import Author

pytestmark = [pytest.mark.rule("contract A20"), pytest.mark.rule("contract E1")]


@pytest.fixture
def file(tmp_path: Path, sqlite_file: Path) -> Path:
    return Path(shutil.copy(sqlite_file, tmp_path / "gallery.db"))


@pytest.fixture
def storage(file: Path) -> Iterator[SqlStorage]:
    with closing(open_sql_storage(f"sqlite:///{file}")) as storage:
        assert storage.data_version() is None  # it connects for the next time
        yield storage


def test_a_commit_of_others_changes_the_number(storage: SqlStorage, file: Path) -> None:
    before = storage.data_version()
    assert storage.data_version() == before is not None
    with closing(open_sql_storage(f"sqlite:///{file}")) as other:
        other.write(lambda uow: uow.records(AUTHORS).add(Author(1, 7, "Ann", 5)))
    assert storage.data_version() not in (None, before)


def test_a_lock_is_not_waited_for(storage: SqlStorage, file: Path) -> None:
    storage.data_version()
    with closing(sqlite3.connect(file, isolation_level=None)) as connection:
        connection.execute("BEGIN EXCLUSIVE")
        began = time.monotonic()
        storage.data_version()
        assert time.monotonic() - began < 0.25


def test_a_file_that_was_replaced_gets_another_number(storage: SqlStorage, file: Path, sqlite_file: Path) -> None:
    before = storage.data_version()
    other = shutil.copy(sqlite_file, file.with_name("other.db"))
    os.replace(other, file)
    assert storage.data_version() is None
    assert storage.data_version() not in (None, before)
    file.unlink()
    assert storage.data_version() is None


def test_a_file_that_cannot_be_opened_has_no_number(storage: SqlStorage, file: Path) -> None:
    file.unlink()
    file.mkdir()
    for _ in range(2):
        assert storage.data_version() is None

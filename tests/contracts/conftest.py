"""Fixtures for storage tests."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.sql_storage import open_sql_storage
from logoadmin.ports.storage import Storage, UnitOfWork
from tests.contracts.steps import add, role, session, user, write
from tests.mariadb import MariaDb


@pytest.fixture
def signed_in(storage: Storage) -> Storage:
    """A storage with three sessions of user 1 and one of user 2, each with a refresh token."""

    def sign_in(uow: UnitOfWork) -> None:
        for name, user_id in (("one", 1), ("two", 1), ("three", 1), ("bens", 2)):
            uow.identity.sessions.add(session(name, user_id))
            uow.identity.sessions.add_refresh_token(f"token {name}", name)

    write(storage, add(role(1, "editor", ("logos:write", "a")), user(1, "ann"), user(2, "ben")), sign_in)
    return storage


@pytest.fixture
def fresh_sqlite(tmp_path: Path, sqlite_file: Path) -> Iterator[Callable[[], Storage]]:
    """A function that returns storage in a new SQLite file each time."""
    opened: list[Storage] = []

    def make() -> Storage:
        file = shutil.copy(sqlite_file, tmp_path / f"{len(opened)}.db")
        opened.append(open_sql_storage(f"sqlite:///{file}"))
        return opened[-1]

    yield make
    for storage in opened:
        storage.close()


@pytest.fixture
def fresh_mariadb(mariadb: MariaDb) -> Iterator[Callable[[], Storage]]:
    storage = open_sql_storage(mariadb.url)

    def make() -> Storage:
        mariadb.empty()
        return storage

    yield make
    storage.close()


@pytest.fixture(params=["sqlite", "mariadb"])
def fresh(request: pytest.FixtureRequest) -> Callable[[], dict[str, Storage]]:
    """A function that returns empty storage in memory and in a database, and can be called repeatedly."""
    make: Callable[[], Storage] = request.getfixturevalue(f"fresh_{request.param}")
    return lambda: {"memory": MemoryStorage(), request.param: make()}

"""What all tests share: every storage there is, fresh and empty."""

import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest
from hypothesis import HealthCheck, settings

from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.ports.storage import Storage
from tests.mariadb import MariaDb, MariaDbServer, missing_reason, shared

STORAGES = ("memory", "sqlite", "mariadb")
# A closer look, for which a release has the time: more repetitions of the same, never another rule.
LONG: Final = os.environ.get("LOGOADMIN_TEST_LONG") == "1"

settings.register_profile(
    "logoadmin",
    deadline=None,
    max_examples=200 if LONG else 40,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("logoadmin")


@pytest.fixture(scope="session")
def mariadb(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[MariaDb]:
    """A database of this process alone on the MariaDB server of this test run, its tables made."""
    require_mariadb()
    directory = tmp_path_factory.getbasetemp()
    with shared(directory if worker_id == "master" else directory.parent, f"gallery_{worker_id}") as database:
        yield database


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDbServer]:
    """A MariaDB server of this process alone, which may be stopped and altered; the tables of its database are made."""
    require_mariadb()
    server = MariaDbServer()
    try:
        server.prepare()
        yield server
    finally:
        server.remove()


def require_mariadb() -> None:
    """Skip the test where there is no MariaDB, or fail it where there must be one."""
    reason = missing_reason()
    if reason is not None:
        (pytest.fail if os.environ.get("LOGOADMIN_REQUIRE_MARIADB") == "1" else pytest.skip)(reason)


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with empty tables, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "empty.db"
    made = open_sql_storage(f"sqlite:///{file}")
    made.prepare()
    made.close()
    return file


@pytest.fixture
def memory_storage() -> MemoryStorage:
    """The storage in memory."""
    return MemoryStorage()


@pytest.fixture
def sqlite_storage(tmp_path: Path, sqlite_file: Path) -> Iterator[SqlStorage]:
    """The storage in a new SQLite file, ``gallery.db``."""
    shutil.copy(sqlite_file, tmp_path / "gallery.db")
    storage = open_sql_storage(f"sqlite:///{tmp_path / 'gallery.db'}")
    yield storage
    storage.close()


@pytest.fixture
def mariadb_storage(mariadb: MariaDb) -> Iterator[SqlStorage]:
    """The storage in MariaDB, all tables empty."""
    mariadb.empty()
    storage = open_sql_storage(mariadb.url)
    yield storage
    storage.close()


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest) -> Storage:
    """Each storage in turn, empty."""
    fresh: Storage = request.getfixturevalue(f"{request.param}_storage")
    return fresh


@pytest.fixture(params=[name for name in STORAGES if name != "memory"])
def sql_storage(request: pytest.FixtureRequest) -> SqlStorage:
    """Each storage in a database in turn, empty."""
    fresh: SqlStorage = request.getfixturevalue(f"{request.param}_storage")
    return fresh

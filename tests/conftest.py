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
from tests.mariadb import MariaDb, missing_reason

settings.register_profile(
    "logoadmin", deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
settings.load_profile("logoadmin")

STORAGES = ("memory", "sqlite", "mariadb")
# A closer look, for which a release has the time: more repetitions of the same, never another rule.
LONG: Final = os.environ.get("LOGOADMIN_TEST_LONG") == "1"


@pytest.fixture(scope="session")
def mariadb() -> Iterator[MariaDb]:
    """A MariaDB server of this test run alone, with a database whose tables are made."""
    reason = missing_reason()
    if reason is not None and os.environ.get("LOGOADMIN_REQUIRE_MARIADB") == "1":
        pytest.fail(reason)
    if reason is not None:
        pytest.skip(reason)
    server = MariaDb()
    try:
        made = open_sql_storage(server.url)
        made.prepare()
        made.close()
        yield server
    finally:
        server.remove()


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

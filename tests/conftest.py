"""What all tests share: every storage there is, fresh and empty."""

import gc
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import ClauseElement

from logoadmin import connect
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.statements import CompiledStatement, StatementCompiler
from logoadmin.ports.storage import Storage
from tests.mariadb import MariaDb, MariaDbServer, missing_reason, shared
from tests.options import LONG, OPTIONS, skip_without

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STORAGES = ("memory", "sqlite", "mariadb")

settings.register_profile(
    "logoadmin",
    deadline=None,
    max_examples=200 if LONG else 25,
    # Where a release is judged, the same code has the same examples, so that what fails there fails here; elsewhere
    # each run looks for something new.
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("logoadmin")

# To look for garbage among what is loaded and collected, and stays, took a tenth of the time of all tests.
gc.disable()


def pytest_collection_finish() -> None:
    """Have the garbage collector look at what comes from here on, and no more at what is there."""
    gc.freeze()
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _environment() -> Iterator[None]:
    """Have the service find quick hashing in the environment, and nothing that is for the tests."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OPTIONS:
            patch.delenv(name, raising=False)
        patch.setenv("LOGOADMIN_ARGON2_MEMORY_KIB", "8")
        patch.setenv("LOGOADMIN_ARGON2_PASSES", "1")
        yield


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """Have what one storage compiled known to the next ones on the same kind of database.

    Each keeps what it compiled, but hardly a test has the storage of another one: they would compile all the time.
    """
    compile_ = StatementCompiler._compile
    known: dict[tuple[Any, ...], CompiledStatement] = {}

    def compiled(self: StatementCompiler, statement: ClauseElement, names: tuple[str, ...]) -> CompiledStatement:
        dialect = self._dialect
        key = dialect.name, dialect.driver, getattr(dialect, "server_version_info", None), statement, names
        if key not in known:
            known[key] = compile_(self, statement, names)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StatementCompiler, "_compile", compiled)
        yield


@pytest.fixture(scope="session")
def mariadb_database(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[MariaDb]:
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


@pytest.fixture(scope="module")
def mariadb(request: pytest.FixtureRequest) -> MariaDb:
    """The database of a process; in a module with the mark ``own_mariadb``, a server that nobody else uses."""
    is_own = request.node.get_closest_marker("own_mariadb") is not None
    found: MariaDb = request.getfixturevalue("mariadb_server" if is_own else "mariadb_database")
    return found


@pytest.fixture
def running(mariadb_server: MariaDbServer) -> Iterator[MariaDbServer]:
    """The server that nobody else uses, which runs as usual afterwards, whatever became of it."""
    yield mariadb_server
    mariadb_server.kill()
    mariadb_server.start()


def require_mariadb() -> None:
    """Skip the test where there is no MariaDB, or fail it where there must be one."""
    reason = missing_reason()
    if reason is not None:
        skip_without("MARIADB", reason)


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    """The browser, for which no name leads anywhere."""
    from tests import browser  # which takes a while, and most tests need none

    with browser.started() as found:
        yield found


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with empty tables, to be copied."""
    file = tmp_path_factory.mktemp("sqlite") / "empty.db"
    made = open_sql_storage(f"sqlite:///{file}")
    made.prepare()
    made.close()
    return file


@pytest.fixture(scope="session")
def initialised_file(tmp_path_factory: pytest.TempPathFactory, sqlite_file: Path) -> Path:
    """An SQLite file as ``logoadmin init`` leaves it, to be copied: to make one takes longer than most commands."""
    file = tmp_path_factory.mktemp("initialised") / "logoadmin.db"
    shutil.copy(sqlite_file, file)
    connect(f"sqlite:///{file}").close()
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


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
    """The URL of a file that is not there yet."""
    return f"sqlite:///{tmp_path / 'new.db'}"


@pytest.fixture
def mariadb_url(mariadb: MariaDb) -> str:
    """The URL of a database without tables."""
    return mariadb.url_of(mariadb.new_database())


@pytest.fixture
def prepared_sqlite_url(tmp_path: Path, sqlite_file: Path) -> str:
    """The URL of a new SQLite file with empty tables."""
    return f"sqlite:///{shutil.copy(sqlite_file, tmp_path / 'new.db')}"


@pytest.fixture
def prepared_mariadb_url(mariadb: MariaDb) -> str:
    """The URL of a new database on MariaDB with empty tables."""
    return mariadb.url_of(mariadb.prepared_database())


@pytest.fixture(params=["sqlite", "mariadb"])
def prepared_url(request: pytest.FixtureRequest) -> str:
    """The URL of each kind of database in turn, with empty tables: quicker to have than to make them there."""
    found: str = request.getfixturevalue(f"prepared_{request.param}_url")
    return found


@pytest.fixture(params=["sqlite_url", "mariadb_url"])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of each kind of database in turn, without tables."""
    found: str = request.getfixturevalue(request.param)
    return found


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

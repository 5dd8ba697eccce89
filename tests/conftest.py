"""Fixtures for all tests: every kind of storage, new and empty."""

import asyncio
import gc
import inspect
import os
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import HealthCheck, settings
from sqlalchemy import ClauseElement

from logoadmin import connect, starting
from logoadmin.adapters.argon2_passwords import Argon2Passwords
from logoadmin.adapters.memory_storage import MemoryStorage
from logoadmin.adapters.sql_storage import SqlStorage, open_sql_storage
from logoadmin.adapters.sql_storage.statements import CompiledStatement, StatementCompiler
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.ports.storage import Storage
from tests.gallery import FrozenClock, gallery_on, stock
from tests.mariadb import MariaDb, MariaDbServer, missing_reason, shared
from tests.options import LONG, OPTIONS, skip_without

if TYPE_CHECKING:
    from playwright.sync_api import Browser

STORAGES = ("memory", "sqlite", "mariadb")
LATER = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.(?:slow|server|lint)\b", re.MULTILINE)
# The default settings: memory in KiB, and passes.
USUAL_COST = (19_456, 2)

settings.register_profile(
    "logoadmin",
    deadline=None,
    max_examples=200 if LONG else 15,
    # In CI, the same code gets the same examples, so failures can be reproduced; elsewhere each run tries new ones.
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
settings.load_profile("logoadmin")

# Garbage collection of modules and tests that stay loaded took a tenth of the time of all tests.
gc.disable()


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Skip modules without tests for ``make test``, since importing them takes a third of the collection time."""
    is_quick = config.option.markexpr == "not slow and not server and not lint"
    if is_quick and collection_path.suffix == ".py" and LATER.search(collection_path.read_text(encoding="utf-8")):
        return True
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave tests on a database server to ``make test-slow``, before tests are selected by their marks."""
    for item in items:
        fixtures = set(getattr(item, "fixturenames", ()))
        call = getattr(item, "callspec", None)
        params = {value for value in call.params.values() if isinstance(value, str)} if call else set()
        if any(name.startswith("mariadb") for name in fixtures | params):
            item.add_marker(pytest.mark.server("the server of a database"))


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """Run an asynchronous test in an event loop of its own."""
    if not inspect.iscoroutinefunction(pyfuncitem.obj):
        return None
    names = inspect.signature(pyfuncitem.obj).parameters
    asyncio.run(pyfuncitem.obj(**{name: pyfuncitem.funcargs[name] for name in names}))
    return True


def pytest_collection_finish() -> None:
    """Exclude existing objects from garbage collection."""
    gc.freeze()
    gc.set_threshold(50_000)
    gc.enable()


@pytest.fixture(scope="session", autouse=True)
def _environment() -> Iterator[None]:
    """Make hashing cheap unless settings choose its cost, and remove the tests' options from the environment."""
    with pytest.MonkeyPatch.context() as patch:
        for name in OPTIONS:
            patch.delenv(name, raising=False)
        patch.setenv("LOGOADMIN_ARGON2_MEMORY_KIB", "8")
        patch.setenv("LOGOADMIN_ARGON2_PASSES", "1")
        patch.setattr(starting, "Argon2Passwords", _hasher)
        yield


def _hasher(memory_kib: int, passes: int) -> Argon2Passwords:
    """Return a hasher of this cost, or the cheapest one for the default cost, which connect() cannot change."""
    return Argon2Passwords(8, 1) if (memory_kib, passes) == USUAL_COST else Argon2Passwords(memory_kib, passes)


@pytest.fixture(scope="session", autouse=True)
def _compiled_once() -> Iterator[None]:
    """Share compiled statements between storages on the same kind of database.

    Each storage caches its statements, but nearly every test has its own storage, which would compile them again.
    """
    compile_ = StatementCompiler.compile
    known: dict[tuple[Any, ...], CompiledStatement] = {}

    def compiled(self: StatementCompiler, statement: ClauseElement, names: tuple[str, ...]) -> CompiledStatement:
        dialect = self._dialect
        key = dialect.name, dialect.driver, getattr(dialect, "server_version_info", None), statement, names
        if key not in known:
            known[key] = compile_(self, statement, names)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(StatementCompiler, "compile", compiled)
        yield


@pytest.fixture(scope="session")
def mariadb_database(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Iterator[MariaDb]:
    """A database with tables for this process, on the MariaDB server of the test run."""
    require_mariadb()
    directory = tmp_path_factory.getbasetemp()
    with shared(directory if worker_id == "master" else directory.parent, f"gallery_{worker_id}") as database:
        yield database


@pytest.fixture(scope="session")
def mariadb_server() -> Iterator[MariaDbServer]:
    """A MariaDB server for this process, which tests may stop and reconfigure; its database has tables."""
    require_mariadb()
    server = MariaDbServer()
    try:
        server.prepare()
        yield server
    finally:
        server.remove()


@pytest.fixture(scope="module")
def mariadb(request: pytest.FixtureRequest) -> MariaDb:
    """The database of a process; in a module marked ``own_mariadb``, on a separate server."""
    is_own = request.node.get_closest_marker("own_mariadb") is not None
    found: MariaDb = request.getfixturevalue("mariadb_server" if is_own else "mariadb_database")
    return found


@pytest.fixture
def running(mariadb_server: MariaDbServer) -> Iterator[MariaDbServer]:
    """The separate server, which is restored after each test."""
    yield mariadb_server
    mariadb_server.kill()
    mariadb_server.start()


def require_mariadb() -> None:
    reason = missing_reason()
    if reason is not None:
        skip_without("MARIADB", reason)


@pytest.fixture(scope="module")
def chromium() -> Iterator["Browser"]:
    from tests import browser  # slow to import, and most tests do not need it

    with browser.started() as found:
        yield found


@pytest.fixture(scope="session")
def sqlite_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An SQLite file with empty tables, as a template."""
    file = tmp_path_factory.mktemp("sqlite") / "empty.db"
    storage = open_sql_storage(f"sqlite:///{file}")
    storage.prepare()
    storage.close()
    return file


@pytest.fixture(scope="session")
def initialised_file(tmp_path_factory: pytest.TempPathFactory, sqlite_file: Path) -> Path:
    """An SQLite file after ``logoadmin init``, as a template, since creating one takes longer than most commands."""
    file = tmp_path_factory.mktemp("initialised") / "logoadmin.db"
    shutil.copy(sqlite_file, file)
    connect(f"sqlite:///{file}").close()
    return file


@pytest.fixture
def memory_storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def sqlite_storage(tmp_path: Path, sqlite_file: Path) -> Iterator[SqlStorage]:
    """Storage in a new SQLite file, ``gallery.db``."""
    shutil.copy(sqlite_file, tmp_path / "gallery.db")
    storage = open_sql_storage(f"sqlite:///{tmp_path / 'gallery.db'}")
    yield storage
    storage.close()


@pytest.fixture
def mariadb_storage(mariadb: MariaDb) -> Iterator[SqlStorage]:
    """Storage in MariaDB with empty tables."""
    mariadb.empty()
    storage = open_sql_storage(mariadb.url)
    yield storage
    storage.close()


@pytest.fixture
def sqlite_url(tmp_path: Path) -> str:
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
    """The URL of each kind of database in turn, with empty tables, copied to save time."""
    found: str = request.getfixturevalue(f"prepared_{request.param}_url")
    return found


@pytest.fixture(params=["sqlite_url", "mariadb_url"])
def url(request: pytest.FixtureRequest) -> str:
    """The URL of each kind of database in turn, without tables."""
    found: str = request.getfixturevalue(request.param)
    return found


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest) -> Storage:
    fresh: Storage = request.getfixturevalue(f"{request.param}_storage")
    return fresh


@pytest.fixture(params=[name for name in STORAGES if name != "memory"])
def sql_storage(request: pytest.FixtureRequest) -> SqlStorage:
    """Each kind of storage in a database in turn, empty."""
    fresh: SqlStorage = request.getfixturevalue(f"{request.param}_storage")
    return fresh


@pytest.fixture
def clock() -> FrozenClock:
    return FrozenClock()


@pytest.fixture
def gallery(storage: Storage, clock: FrozenClock) -> LogoAdmin:
    return gallery_on(storage, clock)


@pytest.fixture
def stocked(gallery: LogoAdmin) -> LogoAdmin:
    """The same gallery with a little of everything, see :func:`tests.gallery.stock`."""
    stock(gallery)
    return gallery

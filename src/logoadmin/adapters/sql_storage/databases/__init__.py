"""The databases: their registry, and their differences, which a module for each implements as a :class:`Dialect`."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping
from contextlib import AbstractContextManager, nullcontext
from importlib import import_module
from pathlib import Path
from typing import Any, Final

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, QueuePool, make_url
from sqlalchemy.exc import ArgumentError

from logoadmin.adapters.sql_storage.failures import Classification
from logoadmin.checks import Result
from logoadmin.domain.kernel.errors import SettingsError

# Checks of a database, by name (contract K4).
Checks = Mapping[str, Callable[[Connection], Result]]


# The seconds for which a caller waits for a connection; together with a wait of the database, they stay below the two
# seconds of contract A20.
_POOL_WAIT: Final = 0.5


def pool_options(connections: int) -> dict[str, Any]:
    """Return the options of all engines: a fixed maximum of connections, without implicit transactions."""
    return {
        "poolclass": QueuePool,
        "pool_size": connections,
        "max_overflow": 0,
        "pool_timeout": _POOL_WAIT,
        "pool_use_lifo": True,
        "pool_reset_on_return": None,
        "isolation_level": "AUTOCOMMIT",
        "skip_autocommit_rollback": True,
        "hide_parameters": True,
    }


class Dialect(ABC):
    """The parts of a storage that depend on its database; unless a method says otherwise, those of a server.

    Attributes:
        server, product, concurrent_reads: see :class:`logoadmin.ports.storage.Storage`.
        embedded: whether the database is a file of this service, which is created if missing.
        files: the files of the database, which must not be overwritten.
        begin_write: the statement that begins a transaction that sees earlier commits and takes its lock at the start.
        begin_snapshot: the statement that begins a transaction whose queries all see the same snapshot.
    """

    server: str
    product: str
    embedded = False
    files: frozenset[Path] = frozenset()
    concurrent_reads: int
    begin_write: str
    begin_snapshot: str

    @abstractmethod
    def engine(self, connections: int, timeout: float | None) -> Engine:
        """Return an engine of autocommit connections that are never reset.

        Its compiler renders the hint to read a table by an index: the text of the hint is the name of the index. The
        ``timeout`` limits connecting and each response, in seconds; None for no limit.
        """

    @abstractmethod
    def page_cursor(self, connection: PoolProxiedConnection) -> Any:
        """Return a cursor that fetches one row at a time, and drops the rest when it is closed.

        Its statement, with fetching, may take about a second if somebody waits for it.
        """

    @abstractmethod
    def classify(self, error: BaseException) -> Classification | None:
        """Return the classification of a driver's error, None for a fault of this program."""

    def without_waiting(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:  # noqa: ARG002 (a file's)
        """Disable waiting for locks on a connection, apart from statements that never wait."""
        return nullcontext()

    def data_version(self) -> int | None:
        """See :meth:`logoadmin.ports.storage.Storage.data_version`; from a server, it would take a query."""
        return None

    def erase_removed(self) -> bool:
        """See :meth:`logoadmin.ports.storage.Storage.erase_removed`; the files of a server are not this program's."""
        return True

    def close(self) -> None:  # noqa: B027 (not every database has one)
        """Close the connection of :meth:`data_version`."""

    def exists(self) -> bool:
        """Return whether the database exists; a server itself reports a missing one.

        Raises StartError if the file is not a database.
        """
        return True

    def create(self) -> None:  # noqa: B027 (the administrator of a server creates databases)
        """Create the database if it is :attr:`embedded` and missing, or raise StartError."""

    @abstractmethod
    def back_up(self, target: Path) -> None:
        """Write a consistent, verified copy to a file that only its owner can read (contract K4).

        Raises:
            StartError: it cannot be made, the file exists, or another program makes it, which the text names.
            OSError: the file cannot be written.
        """

    @abstractmethod
    def restore(self, source: Path, fit: Callable[["Dialect"], None]) -> None:
        """Create the database from a copy; ``fit`` prepares it before others can see it.

        Raises:
            StartError: as of :meth:`back_up`, or the file is damaged.
            OSError: the database cannot be written.
        """

    def look_outside(self) -> Iterable[Result]:
        """Check everything outside the database: the file, its directory, its disk (contract K4)."""
        return ()

    @abstractmethod
    def looks_inside(self, connections: int) -> Checks:
        """Return the checks of the database itself by name, for a service with this many connections."""

    @abstractmethod
    def migration_lock(self, connection: Connection) -> AbstractContextManager[str | None]:
        """Lock the tables against other migrations, and commit at the end.

        On an error everything is undone, except tables if the database cannot undo them.

        Yields:
            The statement that begins a write under the lock, None if one has begun.
        """

    @abstractmethod
    def table_options(self, connection: Connection) -> Mapping[str, Any]:
        """Return the options with which a new table compares text by code points (contract A6)."""


_SERVERS: Final = ("mysql", "mariadb", "mysql+pymysql", "mariadb+pymysql", "mysql+mysqldb", "mariadb+mysqldb")
# The module of a database in this package, by the scheme of its URLs. Its ``open_dialect`` takes a URL and its text.
DATABASES: Final = {"sqlite": "sqlite", **dict.fromkeys(_SERVERS, "mysql")}


def dialect_of(url: str) -> Dialect:
    """Return the dialect of a database's URL (contract H2).

    Raises SettingsError if it cannot be used; the text never repeats it, since it may contain a password.
    """
    parsed = parsed_url(url)
    if parsed.drivername not in DATABASES:
        raise SettingsError("The database URL must begin with sqlite:///, mysql+pymysql://, mysql:// or mariadb://")
    # Imported here, so that unused drivers are not loaded.
    module = import_module(f"{__name__}.{DATABASES[parsed.drivername]}")
    dialect: Dialect = module.open_dialect(parsed, url)
    return dialect


def connections_of(dialect: Dialect) -> int:
    """Return the maximum number of connections that the callers of one process use.

    They are the reads and as many searches; eight writes of records, of which one usually commits for all; one write of
    sessions, and two sign-ins that hash passwords in between; and for long calls one write, one export, and two lists.
    """
    return 2 * dialect.concurrent_reads + 15


def files_of(url: str) -> frozenset[Path]:
    """Return the files of a database, see :attr:`Dialect.files`; raise SettingsError if the URL cannot be used."""
    return dialect_of(url).files


def path_of(url: str) -> Path:
    """Return the path of the file of a database; for a server, that of its name in the working directory."""
    files = files_of(url)
    return min(files, key=lambda file: len(file.name)) if files else Path(parsed_url(url).database or "logoadmin")


def parsed_url(url: str) -> URL:
    """Return the parsed URL; raise SettingsError if it is not one."""
    try:
        return make_url(url)
    except (ArgumentError, ValueError):
        pass
    raise SettingsError("The database URL is not a URL; it should look like sqlite:///file or mysql://user@host/name")

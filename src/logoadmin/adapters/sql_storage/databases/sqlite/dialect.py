"""SQLite in a file, as the one place that knows how it differs."""

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from pathlib import Path
from typing import Any, Final, Self, TypeVar
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.exc import DisconnectionError

from logoadmin.adapters.sql_storage.databases.dialect import pool_options
from logoadmin.adapters.sql_storage.databases.sqlite import checks as sqlite_checks
from logoadmin.adapters.sql_storage.databases.sqlite.backups import (
    copy,
    refuse_taken,
    sqlite_errors_explained,
    whole_copy,
)
from logoadmin.adapters.sql_storage.databases.sqlite.commit_watch import CommitWatch
from logoadmin.adapters.sql_storage.databases.sqlite.error_codes import classify
from logoadmin.adapters.sql_storage.driver_errors import Classification
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.checks import Result
from logoadmin.domain.model.errors import SettingsError, StartError

AnyConnection = TypeVar("AnyConnection", bound=sqlite3.Connection)

# The last one and either of the others stay below the two seconds of contract A20; who has to wait for a connection
# finds that others have waited in the queue already.
_POOL_WAIT: Final = 0.5
_BUSY_WAIT: Final = 1.4
_WAL_WAIT: Final = 0.3
_LONG_WAIT: Final = 60.0
_WAL_RETRY: Final = 0.015
# A statement that takes longer is ended, as servers are told to; it is looked at after so many steps, which take some
# milliseconds.
_STATEMENT_WAIT: Final = 1.1
_STEPS: Final = 100_000

# POSIX drops all locks that a process has on a file when it closes any descriptor of it. SQLite knows that and takes
# care; a descriptor of ours would take the locks from its connections, and the next process that closes the file would
# remove the log in which they go on writing. Whoever holds this opens the file, so that a new one is closed before.
_opening: Final = threading.Lock()


class Sqlite:
    """The :class:`~logoadmin.adapters.sql_storage.databases.dialect.Dialect` of a file."""

    embedded = True
    # The driver lets go of the interpreter for each row: two threads that read hand it to each other all the time.
    concurrent_reads = 1
    product = "SQLite"
    # A plain BEGIN would fail at its first change, without waiting, whenever somebody else wrote meanwhile.
    begin_write = ("BEGIN IMMEDIATE",)
    begin_snapshot = ("BEGIN",)

    def __init__(self, file: str) -> None:
        """Use a file; a relative path is taken from the working directory of this moment."""
        self._path = os.path.abspath(file)
        self.server = os.path.basename(self._path) or self._path
        path = Path(self._path).resolve()
        self.files = frozenset(path.with_name(path.name + of) for of in ("", "-wal", "-shm") if path.name)
        self._commit_watch = CommitWatch(self.file, lambda: self._opened(0, sqlite3.Connection))

    def engine(self, connections: int, timeout: float | None) -> Engine:
        """Return an engine that never makes the file: one that is gone must not come back empty."""
        engine = create_engine(
            "sqlite://",
            creator=lambda: self._connect(interactive=timeout is not None),
            **pool_options(connections, _POOL_WAIT),
        )
        engine.dialect.statement_compiler = _Compiler
        event.listen(engine, "connect", self._remember_file)
        event.listen(engine, "checkout", self._compare_file)
        return engine

    def page_cursor(self, connection: PoolProxiedConnection) -> Any:
        """Return a cursor like any other: each row is read when it is asked for."""
        return connection.cursor()

    def classify(self, error: BaseException) -> Classification | None:
        """Return how an error is to be taken."""
        return classify(error)

    def committing(self, connection: PoolProxiedConnection) -> AbstractContextManager[None]:  # noqa: ARG002 (a server's)
        """Return nothing to do: a file answers by itself."""
        return nullcontext()

    def data_version(self) -> int | None:
        """Return a number that is another one after any commit to the file."""
        return self._commit_watch.data_version()

    def close(self) -> None:
        """Close the connection of the commit watch."""
        self._commit_watch.close()

    @contextmanager
    def without_waiting(self, connection: PoolProxiedConnection) -> Iterator[None]:
        """Let SQLite fail at once where it meets a lock."""
        cursor = connection.cursor()
        (usual,) = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            if connection.is_valid:
                cursor.execute(f"PRAGMA busy_timeout = {usual}")

    def exists(self) -> bool:
        """Tell whether there is a file.

        Raises:
            StartError: it is none of SQLite's.
        """
        self._refuse_strangers()
        return os.path.exists(self._path)

    def create(self) -> None:
        """Make an empty file, which only its owner may read: it will hold the key that signs tokens.

        Raises:
            StartError: that cannot be done, or there is one that is none of SQLite's.
        """
        self._refuse_strangers()
        try:
            # Only one that is new may be closed here, since no connection has locks on it; a link may lead to it.
            with _opening:
                os.close(os.open(os.path.realpath(self._path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if not sqlite_checks.may(self._path, os.W_OK):
                raise StartError(f"{self.server}: {Cause.READ_ONLY.text}; {Cause.READ_ONLY.cure}") from None
            return
        except FileNotFoundError:
            reason = "its directory is not there; make it first"
        except OSError as error:
            reason = f"{error.strerror}; name one that can"
        else:
            return
        raise StartError(f"The database file {self.server} cannot be made: {reason}")

    def look_outside(self) -> Iterable[Result]:
        """Look at the file, its directory and its disk."""
        return sqlite_checks.look_outside(Path(os.path.realpath(self._path)))

    def looks_inside(
        self,
        connections: int,  # noqa: ARG002 (what servers have few of)
    ) -> Mapping[str, Callable[[Connection], Iterable[Result]]]:
        """Return looks at what is in the file, which gives as many connections as anybody wants."""
        return sqlite_checks.looks_inside(Path(self._path), lambda: self.opened(_BUSY_WAIT))

    @contextmanager
    def migration_lock(self, connection: Connection) -> Iterator[tuple[str, ...]]:
        """Hold the one write lock, as one transaction: tables are made and undone like records."""
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield ()
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")

    def table_options(self, connection: Connection) -> Mapping[str, Any]:  # noqa: ARG002 (what servers tell by)
        """Return nothing: SQLite compares bytes unless told otherwise."""
        return {}

    def back_up(self, target: Path) -> None:
        """Copy the file while others use it."""
        with (
            whole_copy(target) as part,
            sqlite_errors_explained(self.server),
            closing(self.opened(_LONG_WAIT)) as source,
        ):
            copy(source, part)

    def restore(self, source: Path, fit: "Callable[[Sqlite], None]") -> None:
        """Make the file of a copy, which must not find another one's log beside it."""
        for file in sorted(self.files):
            refuse_taken(file)
        with whole_copy(Path(self._path)) as part:
            with sqlite_errors_explained(source.name), closing(_read_only(source)) as backup:
                copy(backup, part)
            fit(Sqlite(str(part)))

    def _refuse_strangers(self) -> None:
        if os.path.isdir(self._path):
            raise StartError(f"{self.server} is a directory", "name a file")
        if os.path.exists(self._path) and not os.path.isfile(self._path):
            raise StartError(f"{self.server} is not a file", "name one")
        if self._is_strange():
            raise StartError(f"{self.server} is not an SQLite database", "name another file")

    def _is_strange(self) -> bool:
        """Ask SQLite, which changes nothing; reading the file beside it would end the locks that this process has."""
        try:
            with closing(self.opened(0)) as connection:
                connection.execute("PRAGMA schema_version")
        except sqlite3.DatabaseError as error:
            return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_NOTADB
        return False

    def opened(self, busy_wait: float) -> "_Connection":
        """Return a new connection to the file, which is never made here."""
        return self._opened(busy_wait, _Connection)

    def _opened(self, busy_wait: float, factory: type[AnyConnection]) -> AnyConnection:
        uri = f"file:{quote(self._path)}?mode=rw"
        with _opening:
            return sqlite3.connect(
                uri,
                uri=True,
                timeout=busy_wait,
                isolation_level=None,
                check_same_thread=False,
                factory=factory,
            )

    def _connect(self, *, interactive: bool) -> sqlite3.Connection:
        busy_wait, wal_wait = (_BUSY_WAIT, _WAL_WAIT) if interactive else (_LONG_WAIT, _LONG_WAIT)
        connection = self.opened(busy_wait)
        if interactive:
            connection.set_progress_handler(connection.is_late, _STEPS)
        try:
            _use_wal(connection, wal_wait)
            # With less, a power cut takes back what was answered already (contract H2).
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _remember_file(self, _connection: object, record: Any) -> None:
        record.info["file"] = self.file()

    def _compare_file(self, _connection: object, record: Any, _proxy: object) -> None:
        # A connection goes on reading and writing a file that somebody has removed or replaced, with nobody noticing.
        if record.info["file"] != self.file():
            raise DisconnectionError

    def file(self) -> tuple[int, int, int] | None:
        """Return which file it is that has the name now, and for which process; None where there is none.

        After a fork, what SQLite knows of the locks on a file is the other process's.
        """
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino, os.getpid()


class _Compiler(SQLiteCompiler):
    """Writes the hints of queries, which SQLAlchemy leaves out for SQLite."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:  # noqa: ARG002 (SQLAlchemy's)
        return text


class _Connection(sqlite3.Connection):
    """A connection that knows until when its statement may run."""

    ends = math.inf

    def is_late(self) -> bool:
        return time.monotonic() > self.ends

    def cursor(self, factory: Any = None) -> Any:
        return super().cursor(factory or _Cursor)


class _Cursor(sqlite3.Cursor):
    connection: _Connection

    def execute(self, sql: str, parameters: Any = ()) -> Self:
        self.connection.ends = time.monotonic() + _STATEMENT_WAIT
        return super().execute(sql, parameters)

    def executemany(self, sql: str, parameters: Any) -> Self:
        self.connection.ends = math.inf  # many statements, of which none is a search
        return super().executemany(sql, parameters)


def _read_only(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(os.path.abspath(file))}?mode=ro", uri=True)


def _use_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Have changes written to a log first; SQLite may refuse that at once while others begin or end to use the file."""
    end = time.monotonic() + wait
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > end:
                raise
        else:
            return
        time.sleep(_WAL_RETRY)


def open_dialect(url: URL, driver: str, text: str) -> Sqlite:
    """Return the dialect of a file."""
    del driver, text
    return Sqlite(_file_of(url))


def _file_of(url: URL) -> str:
    if url.host or url.username or url.query or not url.database or url.database == ":memory:" or "\0" in url.database:
        raise SettingsError(
            "The database URL of SQLite must name a file, like sqlite:///logoadmin.db, and nothing else"
        )
    return url.database

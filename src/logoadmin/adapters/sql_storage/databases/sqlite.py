"""The dialect of SQLite."""

import math
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, Final, Self
from urllib.parse import quote

from sqlalchemy import URL, Connection, Engine, PoolProxiedConnection, create_engine, event
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler
from sqlalchemy.exc import DisconnectionError

from logoadmin.adapters.sql_storage.databases import Checks, Dialect, pool_options, sqlite_checks, sqlite_files
from logoadmin.adapters.sql_storage.failures import Classification
from logoadmin.checks import Result
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import SettingsError, StartError

# The second one and either the first or a wait for the pool stay below the two seconds of contract A20; a caller that
# waits for a connection does so behind others that are already in the queue.
_BUSY_WAIT: Final = 1.4
_WAL_WAIT: Final = 0.3
LONG_WAIT: Final = 60.0
_WAL_RETRY: Final = 0.015
# A search that takes longer is interrupted, as on a server; its time is checked after this many steps, which take
# some milliseconds.
_STATEMENT_WAIT: Final = 1.1
_STEPS: Final = 100_000

# POSIX drops all locks of a process on a file when it closes any descriptor of the file. SQLite handles that for its
# own descriptors; closing one of ours would drop the locks of its connections, and the next process that closes the
# file would remove the log to which they still write. The file is only opened under this lock, so that a new one is
# closed first.
_opening: Final = threading.Lock()


class Sqlite(Dialect):
    """The dialect of a file."""

    embedded = True
    # The driver releases the interpreter lock for each row, so two reading threads would keep passing it back and
    # forth.
    concurrent_reads = 1
    product = "SQLite"
    # A plain BEGIN would fail at its first change, without waiting, after another write.
    begin_write = "BEGIN IMMEDIATE"
    begin_snapshot = "BEGIN"

    def __init__(self, file: str) -> None:
        """Use a file; a relative path is resolved against the current working directory."""
        self._path = os.path.abspath(file)
        self.server = os.path.basename(self._path) or self._path
        path = Path(self._path).resolve()
        self.files = frozenset(path.with_name(path.name + of) for of in ("", "-wal", "-shm") if path.name)
        self._commit_watch = sqlite_files.CommitWatch(self.file, lambda: self.opened(0))

    def engine(self, connections: int, timeout: float | None) -> Engine:
        """Return an engine that never creates the file: a removed one must not reappear empty."""
        engine = create_engine(
            "sqlite://",
            creator=lambda: self._connect(interactive=timeout is not None),
            **pool_options(connections),
        )
        engine.dialect.statement_compiler = _Compiler
        event.listen(engine, "connect", self._remember_file)
        event.listen(engine, "checkout", self._compare_file)
        return engine

    def page_cursor(self, connection: PoolProxiedConnection) -> Any:
        """The statement is interrupted if it takes too long."""
        return connection.cursor(_PageCursor)

    def classify(self, error: BaseException) -> Classification | None:
        return sqlite_files.classify(error)

    def data_version(self) -> int | None:
        return self._commit_watch.data_version()

    def erase_removed(self) -> bool:
        """Write the log back and empty it, unless somebody reads from it; removed rows were overwritten in it."""
        try:
            with closing(self.opened(_BUSY_WAIT)) as connection:
                ((is_busy, _, _),) = connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        except sqlite3.OperationalError:
            return False
        return not is_busy

    def close(self) -> None:
        self._commit_watch.close()

    @contextmanager
    def without_waiting(self, connection: PoolProxiedConnection) -> Iterator[None]:
        """Make SQLite fail at once when it meets a lock."""
        cursor = connection.cursor()
        (usual,) = cursor.execute("PRAGMA busy_timeout").fetchone()
        cursor.execute("PRAGMA busy_timeout = 0")
        try:
            yield
        finally:
            if connection.is_valid:
                cursor.execute(f"PRAGMA busy_timeout = {usual}")

    def exists(self) -> bool:
        self._refuse_strangers()
        return os.path.exists(self._path)

    def create(self) -> None:
        """Create an empty file that only its owner can read, since it will hold the key that signs tokens."""
        self._refuse_strangers()
        try:
            # Only a new file may be closed here, since no connection has locks on it; the name may be a link.
            with _opening:
                os.close(os.open(os.path.realpath(self._path), os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        except FileExistsError:
            if not sqlite_checks.may(self._path, os.W_OK):
                raise StartError(f"{self.server}: {Cause.READ_ONLY.text}; {Cause.READ_ONLY.cure}") from None
            return
        except FileNotFoundError:
            reason = "its directory is missing; create it first"
        except OSError as error:
            reason = f"{error.strerror}; name one that can"
        else:
            return
        raise StartError(f"The database file {self.server} cannot be made: {reason}")

    def look_outside(self) -> Iterable[Result]:
        return sqlite_checks.look_outside(Path(os.path.realpath(self._path)))

    def looks_inside(self, connections: int) -> Checks:  # noqa: ARG002 (only servers have a limit)
        return {"pages": self._check_pages}

    @contextmanager
    def migration_lock(self, connection: Connection) -> Iterator[str | None]:
        """Hold the write lock in one transaction: changes of tables can be rolled back like records."""
        connection.exec_driver_sql("BEGIN IMMEDIATE")
        try:
            yield None
        except BaseException:
            connection.exec_driver_sql("ROLLBACK")
            raise
        connection.exec_driver_sql("COMMIT")

    def table_options(self, connection: Connection) -> Mapping[str, Any]:  # noqa: ARG002 (for servers)
        """SQLite compares bytes by default."""
        return {}

    def back_up(self, target: Path) -> None:
        with (
            sqlite_files.whole_copy(target) as part,
            sqlite_files.sqlite_errors_explained(self.server, target.name),
            closing(self.opened(LONG_WAIT)) as source,
        ):
            sqlite_files.copy(source, part)

    def restore(self, source: Path, fit: Callable[[Dialect], None]) -> None:
        """Create the file from a copy, unless the log of another file exists beside it."""
        for file in sorted(self.files):
            sqlite_files.refuse_taken(file)
        with sqlite_files.whole_copy(Path(self._path)) as part:
            with sqlite_files.sqlite_errors_explained(source.name, self.server), closing(_read_only(source)) as backup:
                sqlite_files.copy(backup, part)
            fit(Sqlite(str(part)))

    def _check_pages(self, _: Connection) -> Result:
        with closing(self.opened(_BUSY_WAIT)) as connection:
            return sqlite_checks.check_pages(connection)

    def _refuse_strangers(self) -> None:
        if os.path.isdir(self._path):
            raise StartError(f"{self.server} is a directory", "name a file")
        if os.path.exists(self._path) and not os.path.isfile(self._path):
            raise StartError(f"{self.server} is not a file", "name one")
        if self._is_strange():
            raise StartError(f"{self.server} is not an SQLite database", "name another file")

    def _is_strange(self) -> bool:
        """Return whether SQLite cannot read the file; reading it directly would drop the locks of this process."""
        try:
            with closing(self.opened(0)) as connection:
                connection.execute("PRAGMA schema_version")
        except sqlite3.DatabaseError as error:
            return error.sqlite_errorcode & 0xFF == sqlite3.SQLITE_NOTADB
        return False

    def opened(self, busy_wait: float) -> "_Connection":
        """Return a new connection to the file, without creating it."""
        uri = f"file:{quote(self._path)}?mode=rw"
        with _opening:
            return sqlite3.connect(
                uri, uri=True, timeout=busy_wait, isolation_level=None, check_same_thread=False, factory=_Connection
            )

    def _connect(self, *, interactive: bool) -> sqlite3.Connection:
        busy_wait, wal_wait = (_BUSY_WAIT, _WAL_WAIT) if interactive else (LONG_WAIT, LONG_WAIT)
        connection = self.opened(busy_wait)
        if interactive:
            connection.set_progress_handler(connection.is_late, _STEPS)
        try:
            _use_wal(connection, wal_wait)
            # With less, a power cut could undo acknowledged writes (contract H2).
            connection.execute("PRAGMA synchronous=FULL")
            connection.execute("PRAGMA foreign_keys=ON")
            # The bytes of a picture that is removed for good must not stay in free pages (contract P5).
            connection.execute("PRAGMA secure_delete=ON")
        except BaseException:
            connection.close()
            raise
        return connection

    def _remember_file(self, _connection: object, record: Any) -> None:
        record.info["file"] = self.file()

    def _compare_file(self, _connection: object, record: Any, _proxy: object) -> None:
        # A connection would silently continue to use a file that was removed or replaced.
        if record.info["file"] != self.file():
            raise DisconnectionError

    def file(self) -> tuple[int, int, int] | None:
        """Identify the current file and process; None if the file does not exist.

        After a fork, the lock state of SQLite belongs to the other process.
        """
        try:
            found = os.stat(self._path)
        except OSError:
            return None
        return found.st_dev, found.st_ino, os.getpid()


class _Compiler(SQLiteCompiler):
    """Renders index hints, which SQLAlchemy omits for SQLite."""

    def get_from_hint_text(self, table: Any, text: str | None) -> str:  # noqa: ARG002 (SQLAlchemy's)
        return f"INDEXED BY {text}"


class _Connection(sqlite3.Connection):
    """A connection with a deadline for its search."""

    ends = math.inf

    def is_late(self) -> bool:
        return time.monotonic() > self.ends


class _PageCursor(sqlite3.Cursor):
    """The cursor of the statements that search, until it is closed."""

    connection: _Connection

    def execute(self, sql: str, parameters: Any = ()) -> Self:
        self.connection.ends = time.monotonic() + _STATEMENT_WAIT
        return super().execute(sql, parameters)

    def close(self) -> None:
        self.connection.ends = math.inf
        super().close()


def _read_only(file: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"file:{quote(os.path.abspath(file))}?mode=ro", uri=True)


def _use_wal(connection: sqlite3.Connection, wait: float) -> None:
    """Switch to WAL mode, which SQLite may refuse at once while others open or close the file."""
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


def open_dialect(url: URL, _text: str) -> Sqlite:
    """Return the dialect of a file."""
    if url.host or url.username or url.query or not url.database or url.database == ":memory:" or "\0" in url.database:
        raise SettingsError(
            "The database URL of SQLite must name a file, like sqlite:///logoadmin.db, and nothing else"
        )
    return Sqlite(url.database)

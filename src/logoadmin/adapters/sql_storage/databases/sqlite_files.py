"""Copies of an SQLite file in use, the detection of commits to it, and the meaning of error codes (contract K3)."""

import os
import sqlite3
import threading
from collections.abc import Callable, Hashable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from logoadmin.adapters.sql_storage.failures import Classification, CodeTable, FailureKind, classified
from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StartError

# By SQLite's result code, extended or primary. No code means that a server is gone: SQLite fails at once, or after the
# busy timeout.
SQLITE: Final[CodeTable] = (
    (FailureKind.BUSY, Cause.TOO_BUSY, {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}),
    (FailureKind.BUSY, Cause.TOO_BUSY, {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOMEM}),
    (FailureKind.BUSY, Cause.DISK_FULL, {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}),
    (FailureKind.BUSY, Cause.READ_ONLY, {sqlite3.SQLITE_READONLY}),
    (FailureKind.BUSY, Cause.CORRUPT, {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}),
    (FailureKind.BUSY, Cause.CANNOT_OPEN, {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}),
    (FailureKind.BUSY, Cause.IO_ERROR, {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS}),
)


def classify(error: BaseException) -> Classification | None:
    """Return the classification of an error of SQLite; None for a fault of this program."""
    code: int | None = getattr(error, "sqlite_errorcode", None)
    return None if code is None else classified(SQLITE, code, code) or classified(SQLITE, code & 0xFF, code)


_WRITING: Final = frozenset({sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_WRITE, sqlite3.SQLITE_IOERR_TRUNCATE})
# Files that SQLite may leave beside a database.
_BESIDE: Final = ("-journal", "-wal", "-shm")


@contextmanager
def whole_copy(target: Path) -> Iterator[Path]:
    """Create a database under a temporary name, and rename it once it is verified and synced.

    Only its owner may read it. After any failure, no file of the name exists; a kill may leave hidden files whose names
    begin with it. Yields an empty file for the database, which must be closed at the end.

    Raises:
        StartError: the file exists, or the new database is damaged.
    """
    target = Path(os.path.abspath(target))
    refuse_taken(target)
    with atomic_file(target, _name) as part:
        try:
            with sqlite_errors_explained(target.name):
                yield part
                _verify(part, target.name)
        finally:
            for beside in _BESIDE:
                part.with_name(part.name + beside).unlink(missing_ok=True)


def copy(source: sqlite3.Connection, part: Path) -> None:
    """Copy a snapshot of a database while others read and write it."""
    with closing(_opened(part)) as target:
        # An interrupted copy is discarded, so it needs no rollback.
        target.execute("PRAGMA journal_mode=MEMORY")
        target.execute("PRAGMA synchronous=OFF")
        source.backup(target)


def refuse_taken(target: Path) -> None:
    """Raise StartError if a file of this name exists."""
    if os.path.lexists(target):
        raise StartError(f"{target.name} already exists and is not overwritten; name another file, or move it away")


@contextmanager
def sqlite_errors_explained(name: str, written: str = "") -> Iterator[None]:
    """Raise errors of SQLite as StartErrors with a remedy (contract K3), about one file or the file that is written."""
    try:
        yield
    except sqlite3.Error as error:
        classified = classify(error)
        if classified is None:
            raise
        cause = classified.cause
        if error.sqlite_errorcode in _WRITING:
            name = written or name
    else:
        return
    raise StartError(f"{name}: {cause.text}; {cause.cure}")


def _verify(part: Path, name: str) -> None:
    with closing(_opened(part)) as connection:
        # A single file, which can be read on read-only media.
        connection.execute("PRAGMA journal_mode=DELETE")
        sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not sound or connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise StartError(f"{name} is not made: its source is damaged; {Cause.CORRUPT.cure}")


def _opened(part: Path) -> sqlite3.Connection:
    return sqlite3.connect(part, isolation_level=None)


def _name(part: Path, target: Path) -> None:
    """Rename a file without overwriting another one."""
    with suppress(OSError):  # some file systems have no hard links
        os.link(part, target)
        return
    refuse_taken(target)
    part.rename(target)


class CommitWatch:
    """Reads the data version of a file with a connection that never writes. Safe to use from several threads.

    A file that was replaced gets a new connection, and so does a forked process.
    """

    def __init__(self, file: Callable[[], Hashable], connect: Callable[[], sqlite3.Connection]) -> None:
        """Connect at the first use; ``file`` identifies the current file and process, None if it does not exist."""
        self._file = file
        self._connect = connect
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None
        self._cursor: sqlite3.Cursor | None = None
        self._connected_to: Hashable = None
        self._connections = 0

    def data_version(self) -> int | None:
        """Return a number that rises with the commits of all others; None if that would take a wait, or on any error.

        SQLite counts for each connection; the numbers of the next connection follow on those of the last.
        """
        if not self._lock.acquire(blocking=False):
            return None
        try:
            # No generator of a context manager: every cached response takes this path.
            if not self._is_connected() or self._cursor is None:
                return None
            # All rows: a statement with rows left would continue to see the same moment.
            ((number,),) = self._cursor.execute("PRAGMA data_version").fetchall()
        except sqlite3.Error:
            self._drop()
            return None
        finally:
            self._lock.release()
        return self._connections << 32 | int(number)

    def close(self) -> None:
        with self._lock:
            self._drop()

    def _is_connected(self) -> bool:
        """Return whether there is a connection to the current file; connect for the next time if there is none."""
        file = self._file()
        if self._connection is not None and file == self._connected_to:
            return True
        self._drop()
        if file is not None:
            self._connection, self._connected_to = self._connect(), file
            self._cursor = self._connection.cursor()
            self._connections += 1
        return False

    def _drop(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = self._cursor = None

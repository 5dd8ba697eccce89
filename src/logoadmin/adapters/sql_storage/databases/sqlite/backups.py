"""Copies of an SQLite file in use, which get their name once they are verified."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from logoadmin.adapters.sql_storage.databases.sqlite.error_codes import classify
from logoadmin.atomic_files import atomic_file
from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StartError

# Files that SQLite may leave beside a database.
_BESIDE: Final = ("-journal", "-wal", "-shm")


@contextmanager
def whole_copy(target: Path) -> Iterator[Path]:
    """Create a database under a temporary name, and rename it once it is verified and synced.

    Only its owner may read it. After any failure, no file of the name exists; a kill may leave hidden files whose names
    begin with it.

    Yields:
        An empty file for the database, which must be closed at the end.

    Raises:
        StartError: the file exists, or the new database is damaged.
        OSError: the file cannot be written.
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
    """Make sure that no file of this name exists.

    Raises:
        StartError: it exists.
    """
    if os.path.lexists(target):
        raise StartError(f"{target.name} already exists and is not overwritten; name another file, or move it away")


@contextmanager
def sqlite_errors_explained(name: str) -> Iterator[None]:
    """Convert errors of SQLite into errors with a remedy (contract K3).

    Raises:
        StartError: SQLite failed.
    """
    try:
        yield
    except sqlite3.Error as error:
        classified = classify(error)
        if classified is None:
            raise
        cause = classified.cause
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

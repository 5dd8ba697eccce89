"""Whole copies of a file of SQLite, made while it is in use, that have their name only when they are verified."""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Final

from logoadmin.adapters.sql_storage.databases.sqlite.error_codes import classify
from logoadmin.atomic_files import atomic_file
from logoadmin.domain.model.causes import Cause
from logoadmin.domain.model.errors import StartError

# What SQLite may leave beside a file.
_BESIDE: Final = ("-journal", "-wal", "-shm")


@contextmanager
def whole_copy(target: Path) -> Iterator[Path]:
    """Let a database be made under another name; under its own it appears when it is verified and on the disk.

    Only its owner may read it. Whatever happens before, there is no file of the name; after a kill there may be hidden
    ones whose names begin with it.

    Yields:
        An empty file to make it in, which nobody has open at the end.

    Raises:
        StartError: there is one already, or what was made is damaged.
        OSError: there can be no file.
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
    """Copy what a database is at one moment; others may read and write it meanwhile."""
    with closing(_opened(part)) as target:
        # If it breaks off, nothing of this copy is of use: there is nothing to go back to.
        target.execute("PRAGMA journal_mode=MEMORY")
        target.execute("PRAGMA synchronous=OFF")
        source.backup(target)


def refuse_taken(target: Path) -> None:
    """Make sure that there is no file of this name.

    Raises:
        StartError: there is one.
    """
    if os.path.lexists(target):
        raise StartError(f"{target.name} is there already, and is not overwritten; name another file, or move it away")


@contextmanager
def sqlite_errors_explained(name: str) -> Iterator[None]:
    """Say what SQLite complains of with what to do (contract K3).

    Raises:
        StartError: it complained.
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
        # One file alone, which can be read where nothing can be written.
        connection.execute("PRAGMA journal_mode=DELETE")
        sound = connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        if not sound or connection.execute("PRAGMA foreign_key_check").fetchone() is not None:
            raise StartError(f"{name} is not made: its source is damaged; {Cause.CORRUPT.cure}")


def _opened(part: Path) -> sqlite3.Connection:
    return sqlite3.connect(part, isolation_level=None)


def _name(part: Path, target: Path) -> None:
    """Give a file its name, which nobody else has taken meanwhile."""
    with suppress(OSError):  # not every file system has two names for a file
        os.link(part, target)
        return
    refuse_taken(target)
    part.rename(target)

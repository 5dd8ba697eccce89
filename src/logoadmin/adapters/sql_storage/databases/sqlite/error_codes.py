"""Error codes of SQLite: what each means for a transaction, and for the operator (contract K3)."""

import sqlite3
from typing import Final

from logoadmin.adapters.sql_storage.driver_errors import Classification, CodeTable, FailureKind, classified
from logoadmin.domain.kernel.causes import Cause

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

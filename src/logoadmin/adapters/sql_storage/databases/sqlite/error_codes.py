"""Error codes of SQLite: what each means for a transaction, and for the operator (contract K3)."""

import sqlite3
from typing import Final

from logoadmin.adapters.sql_storage.driver_errors import (
    Classification,
    CodeTable,
    FailureKind,
    classified,
    code_of,
)
from logoadmin.domain.model.causes import Cause

# By SQLite's result code, extended or primary. None of it is a server that is gone: it shows at once, or after the busy
# timeout, so there is nothing to spare the callers.
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
    """Return how an error of SQLite is to be taken; None for a mistake of ours."""
    code = code_of(error)
    return None if code is None else classified(SQLITE, code, code) or classified(SQLITE, code & 0xFF, code)

"""What a database may answer instead of doing what it was asked, and the one place where its errors are named.

The class of a driver's error says little, its code does: one table for each kind of database says why it failed, for
people, and how it is to be taken.
"""

import socket
import sqlite3
import ssl
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple

from sqlalchemy import exc

from logoadmin.domain.model.causes import Cause


class FailureKind(Enum):
    """How a transaction failed through no fault of its own."""

    GONE = "the server cannot be reached, or the connections to it were lost"
    USELESS = "this connection was lost, or leads to a server that is of no use; others may not"
    BUSY = "the server is there and cannot do it"
    CONFLICT = "another transaction was in the way, and the whole of this one is undone"
    REFUSED = "a key refused a record, and nothing that stands in its way can be seen"


class Classification(NamedTuple):
    """How an error is to be taken, why it came, and the driver's code that told both, for the log."""

    kind: FailureKind
    cause: Cause
    code: object


_Table = tuple[tuple[FailureKind, Cause, set[int]], ...]

MYSQL: Final[_Table] = (
    # Lost, or never there.
    (FailureKind.GONE, Cause.OUT_OF_REACH, {0, 1042, 1043, 1053, 1152, 1158, 1159, 1160, 1161, 1927, 2002, 2003}),
    (FailureKind.GONE, Cause.OUT_OF_REACH, {2006, 2012, 2013, 2014, 2045, 2055, 4031}),
    (FailureKind.GONE, Cause.UNKNOWN_HOST, {2005}),
    # There, but not for us.
    (FailureKind.GONE, Cause.ACCESS_DENIED, {1045, 1129, 1130, 1698, 1862, 2059, 2061}),
    (FailureKind.GONE, Cause.NO_RIGHTS, {1044}),
    (FailureKind.GONE, Cause.UNKNOWN_DATABASE, {1049}),
    (FailureKind.GONE, Cause.TLS_REFUSED, {2026, 3159}),
    # On a connection that works; another one may lead to a better server.
    (FailureKind.USELESS, Cause.CUT_OFF, {1047}),
    (FailureKind.USELESS, Cause.READ_ONLY, {1290, 1836}),
    (FailureKind.BUSY, Cause.NO_RIGHTS, {1142, 1143, 1227, 1370}),
    (FailureKind.BUSY, Cause.DISK_FULL, {1021, 1114}),
    (FailureKind.BUSY, Cause.CORRUPT, {1034, 1035, 1194, 1195, 1712}),
    (FailureKind.BUSY, Cause.TOO_LARGE, {1153}),
    (FailureKind.BUSY, Cause.IO_ERROR, {1180}),
    (FailureKind.BUSY, Cause.TOO_BUSY, {1040, 1041, 1203, 1205, 1206, 1226, 1317, 1969, 3024, 3572}),
    # The last two come of tables that somebody changes at this moment.
    (FailureKind.CONFLICT, Cause.TOO_BUSY, {1020, 1213, 1412, 1684}),
)
# What was raised below the driver, where that tells more than its code.
_BELOW: Final[dict[type[Exception], Cause]] = {
    ssl.SSLError: Cause.TLS_REFUSED,
    socket.gaierror: Cause.UNKNOWN_HOST,
    TimeoutError: Cause.NO_ANSWER,
}
# What the servers of a cluster say when they have no number for it; one text alone tells what to do.
_UNKNOWN_ERROR: Final = 1105
_TOO_LARGE: Final = "writeset size"
# By SQLite's result code, extended or primary. None of it is a server that is gone: it shows at once, or after the busy
# timeout, so there is nothing to spare the callers.
SQLITE: Final[_Table] = (
    (FailureKind.BUSY, Cause.TOO_BUSY, {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}),
    (FailureKind.BUSY, Cause.TOO_BUSY, {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOMEM}),
    (FailureKind.BUSY, Cause.DISK_FULL, {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}),
    (FailureKind.BUSY, Cause.READ_ONLY, {sqlite3.SQLITE_READONLY}),
    (FailureKind.BUSY, Cause.CORRUPT, {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}),
    (FailureKind.BUSY, Cause.CANNOT_OPEN, {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}),
    (FailureKind.BUSY, Cause.IO_ERROR, {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS}),
)


def classify_mysql(error: BaseException) -> Classification | None:
    """Return how an error of a driver for MariaDB and MySQL is to be taken; None for a mistake of ours."""
    code = _code_of(error)
    if code == _UNKNOWN_ERROR:
        too_large = _TOO_LARGE in str(error)
        kind, cause = (FailureKind.BUSY, Cause.TOO_LARGE) if too_large else (FailureKind.USELESS, Cause.OUT_OF_REACH)
        return Classification(kind, cause, code)
    if code is not None:
        found = _looked_up(MYSQL, code, code)
        below = getattr(error, "original_exception", None) or error.__context__
        # The driver has the same code for whatever the system tells of a connection.
        of_system = next((cause for kind, cause in _BELOW.items() if isinstance(below, kind)), None)
        return found._replace(cause=of_system) if of_system and found and found.cause is Cause.OUT_OF_REACH else found
    if type(error).__name__ in {"InternalError", "InterfaceError"}:
        # The driver's own results have a text and no code: what it reads is no longer the server's protocol.
        return Classification(FailureKind.USELESS, Cause.OUT_OF_REACH, "protocol")
    return None


def classify_sqlite(error: BaseException) -> Classification | None:
    """Return how an error of SQLite is to be taken; None for a mistake of ours."""
    code = _code_of(error)
    return None if code is None else _looked_up(SQLITE, code, code) or _looked_up(SQLITE, code & 0xFF, code)


def _code_of(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", error.args[0] if error.args else None)
    return code if isinstance(code, int) else None


def _looked_up(table: _Table, code: int, shown: int) -> Classification | None:
    return next((Classification(kind, cause, shown) for kind, cause, codes in table if code in codes), None)


class Failure(Exception):
    """A transaction failed. Never leaves the adapter.

    Attributes:
        kind: how.
        cause: why.
        code: the driver's number for it, for the log.
        error: the driver's own error.
        lost: whether a connection broke that had worked before.
        unsure: whether the transaction may have been kept all the same.
        slow: whether a commit was not answered in time, of which the server may know more on another connection.
    """

    def __init__(
        self, classified: Classification, error: BaseException, *, lost: bool = False, unsure: bool = False
    ) -> None:
        self.kind, self.cause, self.code = classified
        self.error, self.lost, self.unsure = error, lost, unsure
        self.slow = False
        super().__init__(f"{self.kind.name} {self.cause.code} {self.code}")

    @property
    def is_broken(self) -> bool:
        """Whether the connection is good for nothing any more, or was never made."""
        return self.kind in {FailureKind.GONE, FailureKind.USELESS}


class DriverErrors:
    """Tells what became of a transaction from the error that its driver raised."""

    def __init__(self, classify: Callable[[BaseException], Classification | None], driver: Any) -> None:
        """Classify errors.

        Args:
            classify: the dialect's classification of a driver's error.
            driver: the module of the driver, with the errors that each driver has (PEP 249).
        """
        self._classify = classify
        self._driver = driver

    def failure(self, error: BaseException, *, connected: bool = True) -> Failure | None:
        """Return the failure that an error means, None for what the database cannot be blamed for.

        Args:
            error: what was raised.
            connected: whether a connection that worked was in use, which may then be the one that is lost.
        """
        if isinstance(error, Failure):
            return error
        if isinstance(error, exc.TimeoutError):
            return Failure(Classification(FailureKind.BUSY, Cause.TOO_BUSY, "pool"), error)
        if isinstance(error, self._driver.IntegrityError):
            return Failure(Classification(FailureKind.REFUSED, Cause.TOO_BUSY, _code_of(error)), error)
        # SQLAlchemy's own come from what it asks of a new connection, or of the tables.
        classified = self._classify(getattr(error, "orig", None) or error) if self.is_of_database(error) else None
        if classified is None:
            return None
        failure = Failure(classified, error)
        failure.lost = connected and failure.is_broken
        return failure

    def failure_of_commit(self, error: BaseException) -> Failure | None:
        """Return the failure that an error of a commit means, after which everything may be there all the same."""
        failure = self.failure(error)
        if failure is None and self.is_of_database(error):
            failure = Failure(Classification(FailureKind.BUSY, Cause.IO_ERROR, _code_of(error)), error)
        if failure is not None:
            # Of a conflict alone it is certain that nothing was kept.
            failure.unsure = failure.kind is not FailureKind.CONFLICT
            failure.slow = isinstance(error.__context__, TimeoutError)
            if failure.slow:
                failure.cause = Cause.TOO_BUSY
        return failure

    def is_of_database(self, error: BaseException) -> bool:
        return isinstance(error, (self._driver.Error, exc.DBAPIError))

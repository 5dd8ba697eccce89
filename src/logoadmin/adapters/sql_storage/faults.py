"""What a database may answer instead of doing what it was asked, and the one place where its errors are named.

The class of a driver's error says little, its code does: one table for each kind of database says why it failed, for
people, and how it is to be taken.
"""

import sqlite3
import ssl
from collections.abc import Callable
from enum import Enum
from typing import Any, Final, NamedTuple

from sqlalchemy import exc

from logoadmin.domain.model.causes import Cause


class Fault(Enum):
    """How a transaction failed through no fault of its own."""

    GONE = "the server cannot be reached, or the connections to it were lost"
    USELESS = "this connection was lost, or leads to a server that is of no use; others may not"
    BUSY = "the server is there and cannot do it"
    CONFLICT = "another transaction was in the way, and the whole of this one is undone"
    REFUSED = "a key refused a record, and nothing that stands in its way can be seen"


class Judgement(NamedTuple):
    """How an error is to be taken, why it came, and the driver's code that told both, for the log."""

    fault: Fault
    cause: Cause
    code: object


_Table = tuple[tuple[Fault, Cause, set[int]], ...]

MYSQL: Final[_Table] = (
    # Lost, or never there.
    (Fault.GONE, Cause.OUT_OF_REACH, {0, 1042, 1043, 1053, 1152, 1158, 1159, 1160, 1161, 1927, 2002, 2003, 2005}),
    (Fault.GONE, Cause.OUT_OF_REACH, {2006, 2012, 2013, 2014, 2045, 2055, 4031}),
    # There, but not for us.
    (Fault.GONE, Cause.ACCESS_DENIED, {1045, 1129, 1130, 1698, 1862, 2059, 2061}),
    (Fault.GONE, Cause.NO_RIGHTS, {1044}),
    (Fault.GONE, Cause.UNKNOWN_DATABASE, {1049}),
    (Fault.GONE, Cause.TLS_REFUSED, {2026, 3159}),
    # On a connection that works; another one may lead to a better server.
    (Fault.USELESS, Cause.CUT_OFF, {1047}),
    (Fault.USELESS, Cause.READ_ONLY, {1290, 1836}),
    (Fault.BUSY, Cause.NO_RIGHTS, {1142, 1143, 1227, 1370}),
    (Fault.BUSY, Cause.DISK_FULL, {1021, 1114}),
    (Fault.BUSY, Cause.CORRUPT, {1034, 1035, 1194, 1195, 1712}),
    (Fault.BUSY, Cause.TOO_LARGE, {1153}),
    (Fault.BUSY, Cause.TOO_BUSY, {1040, 1041, 1203, 1205, 1206, 1226, 1317, 1969, 3024, 3572}),
    (Fault.CONFLICT, Cause.TOO_BUSY, {1020, 1213}),
)
# By SQLite's result code, extended or primary. None of it is a server that is gone: it shows at once, or after the busy
# timeout, so there is nothing to spare the callers.
SQLITE: Final[_Table] = (
    (Fault.BUSY, Cause.TOO_BUSY, {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL}),
    (Fault.BUSY, Cause.TOO_BUSY, {sqlite3.SQLITE_INTERRUPT, sqlite3.SQLITE_NOMEM}),
    (Fault.BUSY, Cause.DISK_FULL, {sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR_SHMSIZE}),
    (Fault.BUSY, Cause.READ_ONLY, {sqlite3.SQLITE_READONLY}),
    (Fault.BUSY, Cause.CORRUPT, {sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB}),
    (Fault.BUSY, Cause.CANNOT_OPEN, {sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM}),
    (Fault.BUSY, Cause.IO_ERROR, {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_NOLFS}),
)


def judge_mysql(error: BaseException) -> Judgement | None:
    """Return how an error of a driver for MariaDB and MySQL is to be taken; None for a mistake of ours."""
    code = _code_of(error)
    if code is not None:
        # The driver has the same code for what the system refuses and for what TLS does.
        of_tls = isinstance(getattr(error, "original_exception", None), ssl.SSLError)
        return Judgement(Fault.GONE, Cause.TLS_REFUSED, code) if of_tls else _looked_up(MYSQL, code, code)
    if type(error).__name__ in {"InternalError", "InterfaceError"}:
        # The driver's own results have a text and no code: what it reads is no longer the server's protocol.
        return Judgement(Fault.USELESS, Cause.OUT_OF_REACH, "protocol")
    return None


def judge_sqlite(error: BaseException) -> Judgement | None:
    """Return how an error of SQLite is to be taken; None for a mistake of ours."""
    code = _code_of(error)
    return None if code is None else _looked_up(SQLITE, code, code) or _looked_up(SQLITE, code & 0xFF, code)


def _code_of(error: BaseException) -> int | None:
    code = getattr(error, "sqlite_errorcode", error.args[0] if error.args else None)
    return code if isinstance(code, int) else None


def _looked_up(table: _Table, code: int, shown: int) -> Judgement | None:
    return next((Judgement(fault, cause, shown) for fault, cause, codes in table if code in codes), None)


class Failure(Exception):
    """A transaction failed. Never leaves the adapter.

    Attributes:
        fault: how.
        cause: why.
        code: the driver's number for it, for the log.
        error: the driver's own error.
        lost: whether a connection broke that had worked before.
        unsure: whether the transaction may have been kept all the same.
    """

    def __init__(self, judged: Judgement, error: BaseException, *, lost: bool = False, unsure: bool = False) -> None:
        self.fault, self.cause, self.code = judged
        self.error, self.lost, self.unsure = error, lost, unsure
        super().__init__(f"{self.fault.name} {self.cause.code} {self.code}")

    @property
    def is_broken(self) -> bool:
        """Whether the connection is good for nothing any more, or was never made."""
        return self.fault in {Fault.GONE, Fault.USELESS}


class Faults:
    """Tells what became of a transaction from the error that its driver raised."""

    def __init__(self, judge: Callable[[BaseException], Judgement | None], driver: Any) -> None:
        """Judge errors.

        Args:
            judge: the dialect's judgement of a driver's error.
            driver: the module of the driver, with the errors that each driver has (PEP 249).
        """
        self._judge = judge
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
            return Failure(Judgement(Fault.BUSY, Cause.TOO_BUSY, "pool"), error)
        if isinstance(error, self._driver.IntegrityError):
            return Failure(Judgement(Fault.REFUSED, Cause.TOO_BUSY, _code_of(error)), error)
        # SQLAlchemy's own come from what it asks of a new connection, or of the tables.
        judged = self._judge(getattr(error, "orig", None) or error) if self._is_of_database(error) else None
        if judged is None:
            return None
        failure = Failure(judged, error)
        failure.lost = connected and failure.is_broken
        return failure

    def failure_of_commit(self, error: BaseException) -> Failure | None:
        """Return the failure that an error of a commit means, after which everything may be there all the same."""
        failure = self.failure(error)
        if failure is None and self._is_of_database(error):
            failure = Failure(Judgement(Fault.BUSY, Cause.IO_ERROR, _code_of(error)), error)
        if failure is not None:
            # Of a conflict alone it is certain that nothing was kept.
            failure.unsure = failure.fault is not Fault.CONFLICT
        return failure

    def _is_of_database(self, error: BaseException) -> bool:
        return isinstance(error, (self._driver.Error, exc.DBAPIError))

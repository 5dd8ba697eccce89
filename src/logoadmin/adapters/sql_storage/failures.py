"""Failures of transactions, classified from the errors of drivers.

The class of a driver's error is too general: a table of codes for each database has the cause, for people, and the kind
of failure.
"""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, NamedTuple

from sqlalchemy import exc

from logoadmin.domain.kernel.causes import Cause
from logoadmin.domain.kernel.errors import StorageUnavailable, TooLargeToStore


class FailureKind(Enum):
    """The kind of failure of a transaction that is not at fault itself."""

    GONE = "the server cannot be reached, or the connections to it were lost"
    USELESS = "this connection was lost, or leads to a server that is of no use; others may not"
    BUSY = "the server responds but cannot do it"
    CONFLICT = "another transaction was in the way, and the whole of this one is undone"
    REFUSED = "a key refused a record, and nothing that stands in its way can be seen"


class Classification(NamedTuple):
    """The kind and the cause of an error, and the driver's code for the log."""

    kind: FailureKind
    cause: Cause
    code: object


CodeTable = tuple[tuple[FailureKind, Cause, set[int]], ...]


def classified(table: CodeTable, code: int, shown: int) -> Classification | None:
    """Return the row of a code, with the code to log; None for a code without a row."""
    return next((Classification(kind, cause, shown) for kind, cause, codes in table if code in codes), None)


class Failure(Exception):
    """A transaction failed. Never leaves the adapter.

    Attributes:
        code: the driver's number for it, for the log.
        error: the driver's own error.
        lost: whether a working connection broke.
        unsure: whether the transaction may have been committed nevertheless.
        slow: whether a commit timed out, whose outcome another connection may be able to tell.
    """

    def __init__(self, classified: Classification, error: BaseException) -> None:
        self.kind, self.cause, self.code = classified
        self.error = error
        self.lost = self.unsure = self.slow = False
        super().__init__(f"{self.kind.name} {self.cause.code} {self.code}")

    @property
    def is_broken(self) -> bool:
        """Whether the connection is unusable, or was never established."""
        return self.kind in {FailureKind.GONE, FailureKind.USELESS}

    @property
    def detail(self) -> str:
        """What the cause is about, for the operator: the server's own words on a variable that it refuses."""
        return str(self.code) if self.cause is Cause.SESSION else ""


def error_of(server: str, cause: Cause, detail: str = "") -> StorageUnavailable | TooLargeToStore:
    """Return the error for callers of a storage."""
    return TooLargeToStore() if cause is Cause.TOO_LARGE else StorageUnavailable(server, cause, detail)


class DriverErrors:
    """Derives the failure of a transaction from the error of its driver."""

    def __init__(self, classify: Callable[[BaseException], Classification | None], driver: Any) -> None:
        """Classify errors of a driver, by its module (PEP 249) and the dialect's classification."""
        self._classify = classify
        self._driver = driver

    def failure(self, error: BaseException, *, connected: bool = True) -> Failure | None:
        """Return the failure that an error means, None for an error that the database did not cause.

        If a working connection was in use, it may now be lost.
        """
        if isinstance(error, Failure):
            return error
        if isinstance(error, exc.TimeoutError):
            return Failure(Classification(FailureKind.BUSY, Cause.TOO_BUSY, "pool"), error)
        if isinstance(error, self._driver.IntegrityError):
            return Failure(Classification(FailureKind.REFUSED, Cause.TOO_BUSY, "key"), error)
        # Errors of SQLAlchemy itself come from its queries of a new connection or of the tables.
        classified = self._classify(getattr(error, "orig", None) or error) if self.is_of_database(error) else None
        if classified is None:
            return None
        failure = Failure(classified, error)
        failure.lost = connected and failure.is_broken
        return failure

    def failure_of_commit(self, error: BaseException) -> Failure | None:
        """Return the failure of a commit, whose changes may be stored nevertheless."""
        failure = self.failure(error)
        if failure is None and self.is_of_database(error):
            failure = Failure(Classification(FailureKind.BUSY, Cause.IO_ERROR, "commit"), error)
        if failure is not None:
            # Only a conflict guarantees that nothing was stored.
            failure.unsure = failure.kind is not FailureKind.CONFLICT
            failure.slow = isinstance(error.__context__, TimeoutError)
            if failure.slow:
                failure.cause = Cause.TOO_BUSY
        return failure

    def is_of_database(self, error: BaseException) -> bool:
        return isinstance(error, (self._driver.Error, exc.DBAPIError))


log = logging.getLogger("logoadmin.storage")

# With these causes, some calls fail and others succeed: they are over when none has occurred for a while.
_INTERMITTENT: Final = frozenset(
    {Cause.TOO_BUSY, Cause.DISK_FULL, Cause.READ_ONLY, Cause.NO_RIGHTS, Cause.IO_ERROR, Cause.TOO_LARGE}
)
_QUIET: Final = 5.0  # seconds


@dataclass(slots=True)
class _CurrentFailure:
    """A current failure; one that occurred in writing is not over because a read succeeds."""

    began: float
    latest: float
    in_writing: bool


class FailureLog:
    """The current failures of one database: two lines in the log for each cause, however many calls fail.

    Failures before the first successful call are reported by the caller. Safe to use from several threads.

    Attributes:
        has_no_failures: whether a call has succeeded and no failure is current, so that a success changes nothing.
    """

    def __init__(self, server: str, clock: Callable[[], float] = time.monotonic) -> None:
        self.has_no_failures = False
        self._server = server
        self._clock = clock
        self._has_answered = False
        self._current: dict[Cause, _CurrentFailure] = {}
        self._lock = threading.Lock()

    def lasting(self) -> Cause | None:
        """Return why every call fails at present; None if some succeed."""
        with self._lock:
            return next((cause for cause in self._current if cause not in _INTERMITTENT), None)

    def record_failure(self, cause: Cause, code: object, *, in_writing: bool) -> None:
        """Record a failure with the driver's code; ``in_writing`` if reads may work nevertheless."""
        if not self._has_answered:
            return
        now = self._clock()
        with self._lock:
            self.has_no_failures = False
            known = self._current.get(cause)
            if known is None:
                self._current[cause] = _CurrentFailure(now, now, in_writing)
            else:
                known.latest, known.in_writing = now, known.in_writing or in_writing
        if known is None:
            log.warning("%s: %s (%s, %s); %s", self._server, cause.text, cause.code, code, cause.cure)

    def record_success(self, *, writing: bool) -> None:
        """Record a successful call."""
        self._has_answered = True
        now = self._clock()
        with self._lock:
            over = [one for one in self._current.items() if self._is_over(*one, writing, now)]
            for cause, _ in over:
                del self._current[cause]
            self.has_no_failures = not self._current
        for cause, failure in over:
            log.warning("%s: %s is over, after %.0f s", self._server, cause.code, now - failure.began)

    def _is_over(self, cause: Cause, failure: _CurrentFailure, writing: bool, now: float) -> bool:
        if failure.in_writing and not writing:
            return False
        if cause is Cause.CORRUPT:  # A damaged page does not heal, although other pages can be read.
            return False
        return cause not in _INTERMITTENT or now - failure.latest >= _QUIET

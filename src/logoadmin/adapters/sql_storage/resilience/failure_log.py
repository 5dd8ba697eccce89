"""The failure log: logs when a database starts to fail, why, and when it stops (contract K3)."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from logoadmin.domain.kernel.causes import Cause

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
        """Log for a server, by its name for messages."""
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

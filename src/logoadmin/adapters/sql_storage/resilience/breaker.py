"""Sparing callers the wait for a database that was out of reach a moment ago."""

import threading
import time
from collections.abc import Callable

# How long a database that failed is left alone.
REST = 1.0


class Breaker:
    """Lets all calls through while the database answers; else one at a time, at most one a second, to find out.

    Every call that it :meth:`lets_through` must end with :meth:`leave`; none of the two is needed as long as it is
    closed, and the call succeeds. Safe to use from several threads.

    Attributes:
        is_closed: whether the database answers, and all calls go through.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Let everything through at first."""
        self._clock = clock
        self._lock = threading.Lock()
        self.is_closed = True
        self._probing = False
        self._until = 0.0

    def lets_through(self) -> bool:
        """Tell whether a call may go on to the database."""
        with self._lock:
            refused = not self.is_closed and (self._probing or self._clock() < self._until)
            if not refused:
                self._probing = not self.is_closed
            return not refused

    def leave(self, answered: bool | None) -> None:
        """Take note of how a call ended.

        Args:
            answered: whether the database was reached; None when the call cannot tell: it never got that far, or it
                lost a connection that had worked, which may be the only one.
        """
        if answered and self.is_closed:
            return
        with self._lock:
            self._probing = False
            if answered is not None:
                self.is_closed = answered
            if answered is False:
                self._until = self._clock() + REST

"""Sparing callers the wait for a database that was out of reach a moment ago."""

import threading
import time
from collections.abc import Callable

# How long a database that failed is left alone.
REST = 1.0


class Breaker:
    """Lets all calls through while the database answers; else one at a time, at most one a second, to find out.

    Every call that :meth:`admits` must end with :meth:`leave`. Safe to use from several threads.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Let everything through at first."""
        self._clock = clock
        self._lock = threading.Lock()
        self._closed = True
        self._probing = False
        self._until = 0.0

    def admits(self) -> bool:
        """Tell whether a call may go on to the database."""
        if self._closed:  # Without the lock: this is the way of every call on a good day.
            return True
        with self._lock:
            refused = not self._closed and (self._probing or self._clock() < self._until)
            if not refused:
                self._probing = not self._closed
            return not refused

    def leave(self, answered: bool | None) -> None:
        """Take note of how a call ended.

        Args:
            answered: whether the database was reached; None when the call cannot tell: it never got that far, or it
                lost a connection that had worked, which may be the only one.
        """
        if answered and self._closed:
            return
        with self._lock:
            self._probing = False
            if answered is not None:
                self._closed = answered
            if answered is False:
                self._until = self._clock() + REST

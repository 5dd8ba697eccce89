"""The circuit breaker: spares callers the wait for a database that was unreachable a moment ago.

A request that got no connection from the pool is neither a success nor a failure, which libraries do not distinguish:
docs/decisions/0044-breaker-by-hand.md.
"""

import threading
import time
from collections.abc import Callable

# How many seconds a failed database is left alone.
REST = 1.0


class CircuitBreaker:
    """Allows all requests while the database responds; otherwise one at a time, at most one a second.

    Every request that :meth:`allow_request` allowed ends with :meth:`record_result`. Neither call is needed while the
    breaker is closed and the request succeeds. Safe to use from several threads.

    Attributes:
        is_closed: whether the database responds, so that all requests are allowed.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        """Start closed."""
        self._clock = clock
        self._lock = threading.Lock()
        self.is_closed = True
        self._probing = False
        self._until = 0.0

    def allow_request(self) -> bool:
        """Return whether a request may be sent to the database."""
        with self._lock:
            refused = not self.is_closed and (self._probing or self._clock() < self._until)
            if not refused:
                self._probing = not self.is_closed
            return not refused

    def record_result(self, reached: bool | None) -> None:
        """Record the result of a request.

        Args:
            reached: whether the database was reached; None if the request cannot tell, because it never got that far or
                lost a connection that had worked, which may be the only one.
        """
        if reached and self.is_closed:
            return
        with self._lock:
            self._probing = False
            if reached is not None:
                self.is_closed = reached
            if reached is False:
                self._until = self._clock() + REST

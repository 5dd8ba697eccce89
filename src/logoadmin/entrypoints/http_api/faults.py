"""Logs unexpected errors of requests when they start and when they stop (contract K3)."""

import logging
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from logoadmin.entrypoints.http_api.operation import Operation

log = logging.getLogger("logoadmin.http")

# A fault may affect only some requests: it is over when it has not occurred for a while.
_QUIET: Final = 60.0  # seconds
_MAX_FAULTS: Final = 16  # concurrent faults of one operation that are distinguished


@dataclass(slots=True)
class _Fault:
    """A current fault, and the number of requests that failed."""

    began: float
    latest: float
    count: int = 0


class Faults:
    """The current faults of each operation: logs a traceback when one starts, and a line when it is over.

    The access log lines of other affected requests have its code. Only for use in the event loop.

    Attributes:
        lasts: whether any fault is current.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.lasts = False
        self._clock = clock
        self._lasting: dict[Operation, dict[str, _Fault]] = {}

    def met(self, operation: Operation, error: Exception, request_id: str) -> str:
        """Record an unexpected error, and return its code, which depends on its class and place."""
        self.lasts = True
        code, now = _code(error), self._clock()
        known = self._lasting.setdefault(operation, {})
        if code not in known:
            if len(known) >= _MAX_FAULTS:
                return code
            known[code] = _Fault(now, now)
            log.error("%s: %s begins, with request %s", operation.route, code, request_id, exc_info=error)
        known[code].latest = now
        known[code].count += 1
        return code

    def succeeded(self, operation: Operation) -> None:
        """Record a request that succeeded."""
        now = self._clock()
        known = self._lasting.get(operation, {})
        for code, fault in [*known.items()]:
            if now - fault.latest >= _QUIET:
                del known[code]
                told = operation.route, code, now - fault.began, fault.count
                log.warning("%s: %s is over, after %.0f s and %d requests", *told)
        if not known:
            self._lasting.pop(operation, None)
            self.lasts = bool(self._lasting)


def _code(error: Exception) -> str:
    """Return a code for the class of an error and the place where it was raised."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = (place.tb_frame.f_globals.get("__name__"), place.tb_lineno) if place is not None else ()
    return f"fault-{zlib.crc32(repr((type(error).__qualname__, *where)).encode()):08x}"

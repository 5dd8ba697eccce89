"""Saying in the log when requests begin to fail by a fault of the program, and when that is over (contract K3)."""

import logging
import time
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from logoadmin.entrypoints.http_api.operation import Operation

log = logging.getLogger("logoadmin.http")

# What fails for some requests may succeed for others by turns: it is over when nothing has failed so for a while.
_QUIET: Final = 60.0  # seconds
_MAX_FAULTS: Final = 16  # different faults of one operation that are told apart at the same time


@dataclass(slots=True)
class _Fault:
    """A fault that requests meet at the moment, and how many did."""

    began: float
    latest: float
    count: int = 0


class Faults:
    """The faults that the requests to each operation meet: a traceback when one begins, and a line when it is over.

    Those who meet it meanwhile have its code in their own line of the log. For the event loop alone.

    Attributes:
        lasts: whether there are any.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self.lasts = False
        self._clock = clock
        self._lasting: dict[Operation, dict[str, _Fault]] = {}

    def met(self, operation: Operation, error: Exception, request_id: str) -> str:
        """Take note of an error that nobody expected, and return its code, the same for the same kind and place."""
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
        """Take note of a request that met none."""
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
    """Return a code of the kind of an error, and where it was raised."""
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    where = (place.tb_frame.f_globals.get("__name__"), place.tb_lineno) if place is not None else ()
    return f"fault-{zlib.crc32(repr((type(error).__qualname__, *where)).encode()):08x}"

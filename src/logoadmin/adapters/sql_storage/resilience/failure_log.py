"""Saying in the log when a database begins to fail, why, and when that is over (contract K3)."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from logoadmin.domain.model.causes import Cause

log = logging.getLogger("logoadmin.storage")

# With these some calls fail and others succeed by turns: they are over when nothing has failed so for a while.
_BY_TURNS: Final = frozenset(
    {Cause.TOO_BUSY, Cause.DISK_FULL, Cause.READ_ONLY, Cause.NO_RIGHTS, Cause.IO_ERROR, Cause.TOO_LARGE}
)
_QUIET: Final = 5.0  # seconds


@dataclass(slots=True)
class _Outage:
    """What is the matter at the moment; one that was met in writing is not over because somebody can read."""

    began: float
    latest: float
    in_writing: bool


class Outages:
    """The causes for which one database fails at the moment: two lines in the log for each, however many calls fail.

    What fails before it ever answered is said by whoever tries to start. Safe to use from several threads.

    Attributes:
        latest: the cause of the last failure.
        all_is_well: whether the database has answered and nothing fails, so that an answer is no news.
    """

    def __init__(self, server: str, clock: Callable[[], float] = time.monotonic) -> None:
        """Speak of a server, by its name for messages."""
        self.latest = Cause.OUT_OF_REACH
        self.all_is_well = False
        self._server = server
        self._clock = clock
        self._has_answered = False
        self._lasting: dict[Cause, _Outage] = {}
        self._lock = threading.Lock()

    def failed(self, cause: Cause, code: object, *, in_writing: bool) -> None:
        """Take note of a failure, with the driver's code for it; ``in_writing`` if reading may work all the same."""
        self.latest = cause
        if not self._has_answered:
            return
        now = self._clock()
        with self._lock:
            self.all_is_well = False
            known = self._lasting.get(cause)
            if known is None:
                self._lasting[cause] = _Outage(now, now, in_writing)
            else:
                known.latest, known.in_writing = now, known.in_writing or in_writing
        if known is None:
            log.warning("%s: %s (%s, %s); %s", self._server, cause.text, cause.code, code, cause.cure)

    def answered(self, *, writing: bool) -> None:
        """Take note of a call that succeeded."""
        self._has_answered = True
        now = self._clock()
        with self._lock:
            over = [one for one in self._lasting.items() if self._is_over(*one, writing, now)]
            for cause, _ in over:
                del self._lasting[cause]
            self.all_is_well = not self._lasting
        for cause, outage in over:
            log.warning("%s: %s is over, after %.0f s", self._server, cause.code, now - outage.began)

    def _is_over(self, cause: Cause, outage: _Outage, writing: bool, now: float) -> bool:
        if outage.in_writing and not writing:
            return False
        if cause is Cause.CORRUPT:  # What is damaged does not heal: other pages are read all the same.
            return False
        return cause not in _BY_TURNS or now - outage.latest >= _QUIET

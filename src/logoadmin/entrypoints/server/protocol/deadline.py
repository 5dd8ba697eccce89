"""The time that a client has."""

from asyncio import AbstractEventLoop
from asyncio.events import TimerHandle
from collections.abc import Callable
from math import inf


class Deadline:
    """When a client has to have done its part.

    There is at most one timer. It looks at what is due when it wakes, so putting that off or lifting it costs nothing.

    Args:
        missed: what is called when it has passed.

    Attributes:
        due: when, in the time of the event loop.
    """

    __slots__ = ("_loop", "_missed", "_timer", "due")

    def __init__(self, loop: AbstractEventLoop, missed: Callable[[], None]) -> None:
        self._loop = loop
        self._missed = missed
        self._timer: TimerHandle | None = None
        self.due = inf

    def within(self, seconds: float) -> None:
        """Set the deadline, in the place of an earlier one."""
        self.due = self._loop.time() + seconds
        if self._timer is not None and self._timer.when() > self.due:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self._loop.call_at(self.due, self._look)

    def lift(self) -> None:
        """Have no deadline until the next one is set."""
        self.due = inf

    def end(self) -> None:
        """Have no deadline again, and let go of the connection, so that the two do not hold each other."""
        self.due, self._missed = inf, _nothing
        if self._timer is not None:
            self._timer.cancel()

    def _look(self) -> None:
        self._timer = None
        if self._loop.time() >= self.due:
            self._missed()
        elif self.due < inf:
            self._timer = self._loop.call_at(self.due, self._look)


def _nothing() -> None:
    pass

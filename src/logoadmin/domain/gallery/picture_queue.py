"""The queue for decoding pictures, one at a time (contract P1)."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from threading import Condition
from typing import Final

from logoadmin.domain.kernel.errors import TooManyPictures

# How many callers may wait before one without write scopes is rejected, and how long anybody waits.
_MOST: Final = 6
_LONGEST: Final = 30.0  # seconds
_RETRY_AFTER: Final = 10


class PictureQueue:
    """Lets one picture be decoded at a time: callers who may write go first, then cheaper pictures."""

    def __init__(self) -> None:
        self._changed = Condition()
        self._waiting: list[tuple[bool, int, int]] = []
        self._numbers = count()
        self._is_busy = False

    def __len__(self) -> int:
        """Return the number of waiting callers."""
        return len(self._waiting)

    @contextmanager
    def turn(self, cost: int, *, may_write: bool) -> Iterator[None]:
        """Wait for a turn, which lasts as long as the context, for a picture of this many pixels.

        Raises:
            TooManyPictures: too many callers wait, or this one waited too long.
        """
        with self._changed:
            if not may_write and len(self._waiting) >= _MOST:
                raise TooManyPictures(_RETRY_AFTER, "Too many pictures at once")
            entry = (not may_write, cost, next(self._numbers))
            self._waiting.append(entry)
            try:
                if not self._changed.wait_for(lambda: not self._is_busy and min(self._waiting) == entry, _LONGEST):
                    raise TooManyPictures(_RETRY_AFTER, "Too many pictures at once")
                self._is_busy = True
            finally:
                self._waiting.remove(entry)
                self._changed.notify_all()
        try:
            yield
        finally:
            with self._changed:
                self._is_busy = False
                self._changed.notify_all()

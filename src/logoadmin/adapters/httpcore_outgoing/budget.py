"""What one outgoing request may take: time and bytes, over all its redirects (contract L8)."""

import time
from typing import Final

# Heads of responses, and the frames of chunks.
_OVERHEAD: Final = 256 * 1024


class TooLarge(Exception):
    """A response has more bytes than it may have."""


class Budget:
    """The time and the received bytes that are left.

    Attributes:
        most: the largest body, in bytes.
        seconds: the time for everything.
    """

    def __init__(self, most: int, seconds: float) -> None:
        self.most = most
        self.seconds = seconds
        self._bytes = 2 * most + _OVERHEAD
        self._end = time.monotonic() + seconds

    def time_left(self) -> float:
        """Return the seconds that are left.

        Raises:
            TimeoutError: none are left.
        """
        left = self._end - time.monotonic()
        if left <= 0:
            raise TimeoutError
        return left

    def receive(self, size: int) -> None:
        """Count received bytes, of whatever kind.

        Raises:
            TooLarge: more than can belong to a response with a body that is small enough.
        """
        self._bytes -= size
        if self._bytes < 0:
            raise TooLarge

"""Long responses in memory: shared by requests for the same version, and bounded together (contract E1)."""

import threading
import weakref
from collections.abc import Hashable
from typing import Final, Generic, TypeVar

from logoadmin.entrypoints.http_api.errors import HttpError, too_busy

Response = TypeVar("Response")

# The longest list, before compression.
MAX_LIST: Final = 256 * 1024 * 1024  # bytes


class Claim:
    """The memory of one long response, until nobody sends or keeps it any more."""


class LongResponses(Generic[Response]):
    """The long responses that are being sent, and those that are kept for further readers.

    Where others need the memory, those that were kept are dropped, the oldest first; their readers read on. Safe to use
    from several threads.
    """

    def __init__(self, max_list: int = MAX_LIST) -> None:
        """Allow lists of some bytes, and twice as much for all responses."""
        self._max_list, self._left = max_list, 2 * max_list
        self._kept: dict[Hashable, tuple[object, Response]] = {}
        # Reentrant: dropping a response releases its memory.
        self._lock = threading.RLock()

    def check_list(self, size: int) -> None:
        """Refuse a list that is too long.

        Raises:
            HttpError: 413.
        """
        if size > self._max_list:
            raise HttpError(413, "This list is too long; use limit")

    def claim(self, size: int) -> Claim:
        """Return a claim for the memory of a response.

        Raises:
            HttpError: readers of other responses need all of it.
        """
        with self._lock:
            while self._left < size and self._kept:
                del self._kept[next(iter(self._kept))]
            if self._left < size:
                raise too_busy("long responses")
            self._left -= size
        claim = Claim()
        weakref.finalize(claim, self._release, size)
        return claim

    def _release(self, size: int) -> None:
        with self._lock:
            self._left += size

    def get(self, key: Hashable, version: object) -> Response | None:
        """Return the response that is kept under a key, if it was made of this version of the records."""
        kept = self._kept.get(key)
        return kept[1] if kept is not None and kept[0] is version else None

    def keep(self, key: Hashable, version: object, response: Response) -> None:
        """Keep a response in place of the one of another version."""
        with self._lock:
            self._kept[key] = version, response

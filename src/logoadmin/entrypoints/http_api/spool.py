"""Spools imports and long responses to unnamed files on disk (contract E1, I4, K8).

Only the chunk that is being received or sent is in memory, and slow clients hold no database connection. Requests for
the same public read share one long response.
"""

import os
import tempfile
import threading
import weakref
from collections import Counter
from collections.abc import Hashable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final, Generic, TypeVar

from cachetools import LRUCache

from logoadmin.domain.kernel.command import MAX_JSON
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy

Response = TypeVar("Response")

# The memory that one reader of a file uses.
CHUNK: Final = 65_536  # bytes
# All spooled files of one process: imports, long responses being read, and those kept for the next reader.
SPOOL_SPACE: Final = 256 * 1024 * 1024  # bytes
# A short file counts as this many bytes, which bounds the number of open files.
_MIN_COST: Final = 1024 * 1024
_MAX_FILES_OF_A_USER: Final = 2
# A longer line is not valid; the rest of it is skipped, so that it is never in memory.
_LONGEST_LINE: Final = MAX_JSON + 1


@dataclass(frozen=True, slots=True)
class _Kept(Generic[Response]):
    """A long response for further readers, the version of the records of which it was made, and its size."""

    version: object
    response: Response
    size: int


class LongResponses(Generic[Response]):
    """The maximum total size of spooled files, and the long responses that are kept for further readers.

    Where others need the room, those that were kept are dropped, the least recently read ones first. A response that
    is dropped or replaced stays readable for its readers. Safe to use from several threads.

    Attributes:
        lock: protects it, and the spools that draw on it.
    """

    def __init__(self, most: int = SPOOL_SPACE) -> None:
        """Allow ``most`` bytes together, half of them for responses that are kept."""
        self._left, self._max_kept = most, most // 2
        self._kept: LRUCache[Hashable, _Kept[Response]] = LRUCache(self._max_kept, lambda kept: kept.size)
        # Reentrant: dropping a response releases its file, as the garbage collector may while this thread claims.
        self.lock = threading.RLock()

    def claim(self, size: int) -> bool:
        """Reserve bytes, and return whether there was room for them."""
        with self.lock:
            while self._left < size and self._kept:
                self._kept.popitem()
            if self._left < size:
                return False
            self._left -= size
            return True

    def release(self, size: int) -> None:
        """Release reserved bytes."""
        with self.lock:
            self._left += size

    def get(self, key: Hashable, version: object) -> Response | None:
        """Return the response that is kept under a key, if it was made of this version of the records."""
        with self.lock:
            kept = self._kept.get(key)
            return kept.response if kept is not None and kept.version is version else None

    def keep(self, key: Hashable, version: object, response: Response, size: int) -> None:
        """Keep a response with its size in bytes, unless it is too large for that."""
        with self.lock:
            cost = max(size, _MIN_COST)
            if cost <= self._max_kept:
                self._kept[key] = _Kept(version, response, cost)


@dataclass(slots=True)
class _Claim:
    """The bytes that a file has reserved."""

    share: Hashable | None
    size: int = 0
    paid: int = 0


class SpooledFile:
    """An unnamed file; its space is released when it is closed or garbage-collected."""

    def __init__(self, spool: "Spool", content: IO[bytes], claim: _Claim) -> None:
        self._spool, self._content, self._claim = spool, content, claim
        self.close = weakref.finalize(self, _close, spool, content, claim)

    @property
    def size(self) -> int:
        """The bytes written so far."""
        return self._claim.size

    def write(self, content: bytes) -> int:
        """Write at the end, and return the number of bytes.

        Raises:
            HttpError: there is no room on the disk, or in the budget, or the file was closed to make room.
        """
        if not self.close.alive:
            raise too_busy(self._spool.name)
        self._claim.size += len(content)
        self._spool.pay(self._claim)
        try:
            return self._content.write(content)
        except OSError:
            raise too_busy(self._spool.name) from None

    def write_line(self, line: str) -> None:
        """Write a line in UTF-8."""
        self.write(line.encode())

    def restart(self) -> None:
        """Remove everything written so far."""
        if self._claim.size:
            self._content.seek(0)
            self._content.truncate()
            self._claim.size = 0

    def flush(self) -> None:
        """Make all written bytes readable.

        Raises:
            HttpError: there is no room on the disk.
        """
        try:
            self._content.flush()
        except OSError:
            raise too_busy(self._spool.name) from None

    def chunk(self, offset: int) -> bytes:
        """Return the bytes from an offset on, at most :data:`CHUNK`; any number of readers may do this at once."""
        return os.pread(self._content.fileno(), CHUNK, offset)

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first one; a line that is too long is cut just above the limit."""
        self._content.seek(0)
        while line := self._content.readline(_LONGEST_LINE):
            yield line
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = self._content.readline(_LONGEST_LINE)


class Spool:
    """Space for files of one type: at most a number of files, a budget of bytes, and a share for each user.

    Attributes:
        name: the word for the files in error messages.
    """

    def __init__(self, name: str, *, max_files: int | None = None, budget: LongResponses[Any] | None = None) -> None:
        self.name = name
        self._max_files, self._budget = max_files, budget
        self._files: Counter[Hashable | None] = Counter()
        # That of the budget: a response that is dropped there releases its file here.
        self._lock = threading.RLock() if budget is None else budget.lock

    def is_full(self) -> bool:
        """Return whether there is no room for another file."""
        return self._max_files is not None and self._files.total() >= self._max_files

    def open(self, share: Hashable | None = None) -> SpooledFile:
        """Return a new file, counted in the share of a user if given.

        Raises:
            HttpError: there is no room for it, or the share is used up.
        """
        self.check_share(share)
        if self.is_full():
            raise too_busy(self.name)
        claim = _Claim(share)
        self.pay(claim)
        try:
            content = tempfile.TemporaryFile()  # noqa: SIM115 (SpooledFile closes it)
        except OSError:
            self.release(claim)
            raise too_busy(self.name) from None
        with self._lock:
            self._files[share] += 1
        return SpooledFile(self, content, claim)

    def check_share(self, share: Hashable | None) -> None:
        """Refuse a user whose share is used up.

        Raises:
            HttpError: 429.
        """
        if share is not None and self._files[share] >= _MAX_FILES_OF_A_USER:
            text = f"Too many of your {self.name} at the same time; try again later"
            raise HttpError(429, text, {"retry-after": "1"})

    def pay(self, claim: _Claim) -> None:
        """Claim the bytes that a file occupies and has not claimed yet.

        Raises:
            HttpError: there is no room for them.
        """
        due = max(claim.size, _MIN_COST) - claim.paid
        if self._budget is None or due <= 0:
            return
        due = max(due, _MIN_COST)  # in steps, not for each line
        if not self._budget.claim(due):
            raise too_busy(self.name)
        claim.paid += due

    def release(self, claim: _Claim) -> None:
        """Release what a file occupied."""
        if self._budget is not None:
            self._budget.release(claim.paid)

    def closed(self, claim: _Claim) -> None:
        """Release what a file occupied, and its place."""
        self.release(claim)
        with self._lock:
            self._files[claim.share] -= 1
            if not self._files[claim.share]:
                del self._files[claim.share]


def _close(spool: Spool, content: IO[bytes], claim: _Claim) -> None:
    try:
        content.close()
    except OSError:  # unwritten bytes are discarded anyway
        pass
    finally:
        spool.closed(claim)

"""Imports and exports in temporary files, of which each user has a few (contract H4, I4)."""

from collections import Counter
from collections.abc import Hashable, Iterator
from tempfile import SpooledTemporaryFile
from types import TracebackType
from typing import Final

from logoadmin.domain.kernel.command import MAX_JSON
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy

# What is shorter stays in memory.
_IN_MEMORY: Final = 1024 * 1024  # bytes
_MAX_FILES: Final = 8
_MAX_FILES_OF_A_USER: Final = 2
# A longer line is not valid; the rest of it is skipped, so that it is never in memory.
_LONGEST_LINE: Final = MAX_JSON + 1


class TemporaryFile:
    """An unnamed file, which is removed when it is closed. Its owner writes all of it, then reads it.

    Attributes:
        size: the bytes written.
    """

    def __init__(self, files: "TemporaryFiles", user: Hashable) -> None:
        self.size = 0
        self._files, self._user = files, user
        self._content = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed with this file)

    def write(self, content: bytes) -> None:
        """Write at the end.

        Raises:
            HttpError: there is no room on the disk.
        """
        try:
            self._content.write(content)
        except OSError:
            raise too_busy(self._files.name) from None
        self.size += len(content)

    def write_line(self, line: str) -> None:
        """Write a line in UTF-8."""
        self.write(line.encode())

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield the content from its beginning."""
        self._content.seek(0)
        while chunk := self._content.read(size):
            yield chunk

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the first one; a line that is too long is cut just above the limit."""
        self._content.seek(0)
        while line := self._content.readline(_LONGEST_LINE):
            yield line
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = self._content.readline(_LONGEST_LINE)

    def __enter__(self) -> "TemporaryFile":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the file; can be repeated."""
        if not self._content.closed:
            self._files.closed(self._user)
            self._content.close()


class TemporaryFiles:
    """The temporary files for one purpose.

    Attributes:
        name: the word for them in error messages.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._open: Counter[Hashable] = Counter()

    def open(self, user: Hashable) -> TemporaryFile:
        """Return a new file of a user.

        Raises:
            HttpError: too many are open.
        """
        if self._open[user] >= _MAX_FILES_OF_A_USER:
            text = f"Too many of your {self.name} at the same time; try again later"
            raise HttpError(429, text, {"retry-after": "1"})
        if self._open.total() >= _MAX_FILES:
            raise too_busy(self.name)
        self._open[user] += 1
        return TemporaryFile(self, user)

    def closed(self, user: Hashable) -> None:
        """Make room for another file."""
        self._open[user] -= 1
        self._open += Counter()  # forgets those without any

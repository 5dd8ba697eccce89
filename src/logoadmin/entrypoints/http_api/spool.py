"""Spooling: what comes as the body of a request, or goes as that of an answer, waits on the disk (contract I4).

So it is with imports and exports. The files have no name. However large one is, no more of it is held than just comes
or goes; and whoever sends or reads slowly keeps no database connection.
"""

import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from typing import IO, Final

from logoadmin.domain.model.command import MAX_JSON
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.parts import CHUNK

# So many at once, and of one user: the disk is not for them alone, and nobody keeps the others out.
_MAX_FILES: Final = 8
_MAX_FILES_OF_A_USER: Final = 2
# What is longer is no line; the rest of it is passed over, so that nobody holds it.
_LONGEST_LINE: Final = MAX_JSON + 1


class SpooledFile:
    """A file of a user on the disk; who opened it gives its room back by closing it."""

    def __init__(self, spool: "Spool", user_id: int | None, content: IO[bytes]) -> None:
        self._spool: Spool | None = spool
        self._user_id = user_id
        self._content = content

    def __iter__(self) -> Iterator[bytes]:
        """Yield its lines, from the start each time; of one that is too long, no more than shows that."""
        self._content.seek(0)
        while line := self._content.readline(_LONGEST_LINE):
            yield line
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = self._content.readline(_LONGEST_LINE)

    async def __aiter__(self) -> AsyncIterator[bytes]:
        self._content.seek(0)
        while chunk := self._content.read(CHUNK):
            yield chunk

    def write(self, content: bytes) -> None:
        """Write on at its end.

        Raises:
            HttpError: the disk is full.
        """
        try:
            self._content.write(content)
        except OSError:
            raise self._full() from None

    def write_line(self, line: str) -> None:
        """Write a line on, in UTF-8."""
        self.write(line.encode())

    def end(self) -> int:
        """Have all of it on the disk; return its size."""
        try:
            self._content.flush()
        except OSError:
            raise self._full() from None
        return self._content.tell()

    def close(self) -> None:
        """Let it go, for good."""
        if self._spool is not None:
            self._spool.release(self._user_id)
            self._spool = None
            self._content.close()

    def _full(self) -> HttpError:
        return too_busy("files" if self._spool is None else self._spool.name)


class Spool:
    """Room for files of one sort: so many at once, and so many of one user.

    Attributes:
        name: what they are called where there are too many.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._open: Counter[int | None] = Counter()

    def is_full(self) -> bool:
        """Return whether there is no room for another file, whoever it is of."""
        return self._open.total() >= _MAX_FILES

    def open(self, user_id: int | None) -> SpooledFile:
        """Return a new file of a user.

        Raises:
            HttpError: there is no room for it, or the user has their share.
        """
        self.check_share(user_id)
        if self.is_full():
            raise too_busy(self.name)
        try:
            content = tempfile.TemporaryFile()  # noqa: SIM115 (whoever opens it closes it)
        except OSError:
            raise too_busy(self.name) from None
        self._open[user_id] += 1
        return SpooledFile(self, user_id, content)

    def check_share(self, user_id: int | None) -> None:
        """Refuse a user who has as many files as one user may have.

        Raises:
            HttpError: 429.
        """
        if self._open[user_id] >= _MAX_FILES_OF_A_USER:
            text = f"Too many {self.name} of yours at once; try again when one is done"
            raise HttpError(429, text, {"retry-after": "1"})

    def release(self, user_id: int | None) -> None:
        """Have room for one more, once a file of a user is closed."""
        self._open[user_id] -= 1
        self._open += Counter()  # which lets go of those who have none

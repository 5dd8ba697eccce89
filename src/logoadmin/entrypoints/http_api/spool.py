"""Spooling: what comes as the body of a request, or goes as that of an answer, waits on the disk (contract I4).

So it is with imports and exports. The files have no name. However large one is, no more of it is held than just comes
or goes; and whoever sends or reads slowly keeps no database connection.
"""

import hashlib
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import IO, Final

from starlette.requests import ClientDisconnect

from logoadmin.domain.model.command import MAX_JSON
from logoadmin.entrypoints.http_api.conditions import header_values
from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.media_types import JSON_LINES
from logoadmin.entrypoints.http_api.operation import MAX_UPLOAD
from logoadmin.entrypoints.http_api.parts import CHUNK
from logoadmin.entrypoints.http_api.requests import Request

# So many at once, and of one user: the disk is not for them alone, and nobody keeps the others out.
_MAX_FILES: Final = 8
_MAX_FILES_OF_A_USER: Final = 2
# So many lines may a file have: of the largest, each would have less bytes than the shortest record takes.
_MAX_LINES: Final = 2_000_000
# What is longer is no line; the rest of it is passed over, so that nobody holds it.
_LONGEST_LINE: Final = MAX_JSON + 1
# Where in the scope of a request a server finds whether its body may take longer than others, if it comes steadily.
STEADY: Final = "logoadmin.steady"


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

    def open(self, user_id: int | None) -> SpooledFile:
        """Return a new file of a user.

        Raises:
            HttpError: there is no room for it, or the user has their share.
        """
        if self._open[user_id] >= _MAX_FILES_OF_A_USER:
            text = f"Too many {self.name} of yours at once; try again when one is done"
            raise HttpError(429, text, {"retry-after": "1"})
        if self._open.total() >= _MAX_FILES:
            raise too_busy(self.name)
        try:
            content = tempfile.TemporaryFile()  # noqa: SIM115 (whoever opens it closes it)
        except OSError:
            raise too_busy(self.name) from None
        self._open[user_id] += 1
        return SpooledFile(self, user_id, content)

    def release(self, user_id: int | None) -> None:
        """Have room for one more, once a file of a user is closed."""
        self._open[user_id] -= 1
        self._open += Counter()  # which lets go of those who have none


@dataclass(frozen=True, slots=True)
class Upload:
    """The lines that came.

    Attributes:
        lines: the lines, from the first one each time.
        digest: tells them from others.
    """

    lines: SpooledFile
    digest: str


@asynccontextmanager
async def uploaded(request: Request, spool: Spool, user_id: int | None) -> AsyncIterator[Upload]:
    """Receive the body of a user's request, and keep it until it is done with.

    Raises:
        HttpError: it is too large, or there is no room for it.
        ClientDisconnect: it did not come to its end.
    """
    file = spool.open(user_id)
    try:
        yield Upload(file, await _received(request, file))
    finally:
        file.close()


def check_head(request: Request) -> None:
    """Refuse a request whose head says already that its body is no file of lines.

    Raises:
        HttpError: it is too large, of another type, or compressed.
    """
    if request.header(b"content-type").partition(";")[0].strip().lower() not in JSON_LINES:
        raise HttpError(415, f"Body should be {' or '.join(JSON_LINES)}")
    if request.header(b"content-encoding", "identity").strip().lower() != "identity":
        raise HttpError(415, "Body should not be compressed")
    length = next(iter(header_values(request.scope, b"content-length")), "0")
    if not length.isdecimal() or int(length[:20]) > MAX_UPLOAD:
        raise _too_large()


async def _received(request: Request, file: SpooledFile) -> str:
    """Write the body of a request into a file, and return what tells it from others."""
    steady = request.scope.get(STEADY)
    if steady is not None:
        steady.append(True)
    digest, size, lines, more = hashlib.sha256(), 0, 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk, more = message.get("body", b""), message.get("more_body", False)
        size += len(chunk)
        lines += chunk.count(b"\n")
        if size > MAX_UPLOAD:
            raise _too_large()
        if lines > _MAX_LINES:
            raise HttpError(413, f"Body should have at most {_MAX_LINES} lines")
        digest.update(chunk)
        file.write(chunk)
    file.end()
    return digest.hexdigest()


def _too_large() -> HttpError:
    return HttpError(413, f"Body should have at most {MAX_UPLOAD} bytes")

"""Receives request bodies within time limits, into memory or temporary files (contract A21, H4, I4)."""

import asyncio
import hashlib
from collections import Counter
from collections.abc import AsyncIterator, Hashable, Iterator
from contextlib import asynccontextmanager, closing
from tempfile import SpooledTemporaryFile
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from logoadmin.domain.kernel.command import MAX_JSON
from logoadmin.entrypoints.http_api.http_error import HttpError, too_busy
from logoadmin.entrypoints.http_api.operation import CSV, JSON, JSON_LINES, MAX_UPLOAD, SMALL_BODY, Operation
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.ports.metrics import Metrics

# Shorter bodies stay in memory.
_IN_MEMORY: Final = 1024 * 1024  # bytes
_MAX_FILES: Final = 8
_MAX_FILES_OF_A_USER: Final = 2
# A longer line is invalid; the rest of it is skipped, so that it is never in memory.
_LONGEST_LINE: Final = MAX_JSON + 1


class TemporaryFile:
    """An unnamed file, removed when it is closed. It is written completely before it is read."""

    def __init__(self, files: "TemporaryFiles", user: Hashable) -> None:
        self.size = 0
        self._files, self._user = files, user
        self._content = SpooledTemporaryFile(_IN_MEMORY)  # noqa: SIM115 (closed with this file)

    def write(self, content: bytes) -> None:
        """Write at the end."""
        try:
            self._content.write(content)
        except OSError:
            raise too_busy(self._files.name) from None
        self.size += len(content)

    def write_line(self, line: str) -> None:
        """Write a line in UTF-8."""
        self.write(line.encode())

    def chunks(self, size: int) -> Iterator[bytes]:
        """Yield the content from the beginning."""
        self._content.seek(0)
        while chunk := self._content.read(size):
            yield chunk

    def __iter__(self) -> Iterator[bytes]:
        """Yield the lines from the beginning; a line that is too long is cut just above the limit."""
        self._content.seek(0)
        while line := self._content.readline(_LONGEST_LINE):
            yield line
            while len(line) == _LONGEST_LINE and not line.endswith(b"\n"):
                line = self._content.readline(_LONGEST_LINE)

    def close(self) -> None:
        """Remove the file; further calls do nothing."""
        if not self._content.closed:
            self._files.closed(self._user)
            self._content.close()


class TemporaryFiles:
    """The temporary files for one purpose, with the name that error messages give them."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._open: Counter[Hashable] = Counter()

    def open(self, user: Hashable) -> TemporaryFile:
        """Return a new file of a user."""
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
        self._open += Counter()  # drops users without open files


# The memory limit for all unfinished large bodies. Anyone can start one, since service keys are checked later.
_MAX_HELD: Final = 64 * 1024 * 1024
# With more lines, a file of MAX_UPLOAD bytes would have lines shorter than the shortest record.
_MAX_LINES: Final = 2_000_000
# How long a body may take to arrive; a proxy in front is stricter with slow clients.
_BODY_SECONDS: Final = 60.0
_IMPORT_SECONDS: Final = 600.0


def check_head(request: Request, operation: Operation) -> None:
    """Reject a request with an unacceptable body by its head, before any of the body is received."""
    kind = request.media_type
    # Only a request without a body may omit the type, and whether there is a body is not known yet.
    is_file = operation.takes_file and kind.startswith("image/")
    if kind not in operation.media_types and not is_file and (kind or operation.takes_jsonl):
        if operation.takes_file:
            raise no_picture()
        raise HttpError(415, f"Body should be {' or '.join((*JSON_LINES, CSV)) if operation.takes_jsonl else JSON}")
    headers = request.headers
    if b"content-encoding" in headers and headers[b"content-encoding"][0].strip().lower() not in ("", "identity"):
        raise HttpError(415, "Body should not be compressed")
    length = headers.get(b"content-length", ("",))[0] or "0"
    if not length.isdecimal() or int(length[:20]) > operation.max_body:
        raise _too_large(operation.max_body)


def no_picture() -> HttpError:
    """Return the error for a body that is not declared as a picture."""
    return HttpError(415, "Body should be a picture, as image/png or application/octet-stream")


def _too_large(most: int) -> HttpError:
    return HttpError(413, f"Body should have at most {most} bytes")


def _too_late() -> HttpError:
    return HttpError(408, "The body of the request did not arrive in time", {"connection": "close"})


class BodyReader:
    """Reads bodies within time limits and a memory limit for the whole process, and counts their bytes.

    At the memory limit, the oldest large body is rejected, not the newest: otherwise, clients that never finish their
    bodies would block everyone else.
    """

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics
        self._imports = TemporaryFiles("imports")
        self._large: dict[asyncio.Timeout, int] = {}  # sizes, in the order in which they became large

    async def read(self, receive: Receive, most: int) -> bytes:
        """Return the body of a request.

        Raises:
            HttpError: the body is too large or too slow, or had to make room for others.
            ClientDisconnect: the client disconnected before the end of the body.
        """
        body = bytearray()  # a single buffer, however small the chunks
        more = True
        try:
            async with asyncio.timeout(_BODY_SECONDS) as time:
                while more:
                    part, more = await self._part(receive)
                    body += part
                    if len(body) > most:
                        raise _too_large(most)
                    if more and len(body) > SMALL_BODY:
                        self._hold(time, len(body))
        except TimeoutError:
            is_refused = len(body) > SMALL_BODY and time not in self._large
            raise (too_busy("large bodies") if is_refused else _too_late()) from None
        finally:
            self._large.pop(time, None)
        return bytes(body)

    def _hold(self, time: asyncio.Timeout, size: int) -> None:
        self._large[time] = size
        while sum(self._large.values()) > _MAX_HELD:
            first = next(iter(self._large))
            del self._large[first]
            first.reschedule(0)
        if time not in self._large:
            raise TimeoutError

    @asynccontextmanager
    async def received(self, receive: Receive, user: Hashable) -> AsyncIterator[tuple[TemporaryFile, str]]:
        """Receive the lines of a user's import; yield them with their SHA-256, and remove them after the block.

        Raises:
            HttpError: the body is too large or too slow, or there is no room for it.
            ClientDisconnect: the client disconnected before the end of the body.
        """
        with closing(self._imports.open(user)) as file:
            try:
                async with asyncio.timeout(_IMPORT_SECONDS):
                    digest = await self._write(receive, file)
            except TimeoutError:
                raise _too_late() from None
            yield file, digest

    async def _write(self, receive: Receive, file: TemporaryFile) -> str:
        digest, lines, more = hashlib.sha256(), 0, True
        while more:
            part, more = await self._part(receive)
            lines += part.count(b"\n")
            if file.size + len(part) > MAX_UPLOAD:
                raise _too_large(MAX_UPLOAD)
            if lines > _MAX_LINES:
                raise HttpError(413, f"Body should have at most {_MAX_LINES} lines")
            digest.update(part)
            file.write(part)
        return digest.hexdigest()

    async def _part(self, receive: Receive) -> tuple[bytes, bool]:
        """Return the next bytes, and whether there are more."""
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        part: bytes = message.get("body", b"")
        self._metrics.request_body(len(part))
        return part, message.get("more_body", False)

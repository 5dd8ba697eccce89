"""Receives the body of an import into a spooled file (contract H4, I4)."""

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final

from starlette.requests import ClientDisconnect

from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.operation import IMPORTED, JSON_LINES, MAX_UPLOAD
from logoadmin.entrypoints.http_api.requests import Request, check_length, is_compressed, too_large
from logoadmin.entrypoints.http_api.spool import Spool, SpooledFile

_MAX_FILES: Final = 8
# In a file of MAX_UPLOAD bytes with more lines, each line would be shorter than the shortest record.
_MAX_LINES: Final = 2_000_000
# A slower upload makes room for another one when all places are taken.
_MIN_RATE: Final = 32_768.0  # bytes per second
# The rate is that of the last full period of this length; an upload is not judged before its first one has passed.
_RATE_PERIOD: Final = 2.0  # seconds


@dataclass(frozen=True, slots=True)
class Upload:
    """The lines received.

    Attributes:
        lines: the lines, from the first one each time they are iterated.
        digest: the SHA-256 of the body.
    """

    lines: SpooledFile
    digest: str


class _Transfer:
    """An upload that is being received, with its rate."""

    def __init__(self, file: SpooledFile, timeout: asyncio.Timeout, now: float) -> None:
        self._file = file
        self._timeout = timeout
        self._since = now
        self._received = 0
        self._rate = math.inf

    def add(self, size: int, now: float) -> None:
        """Count bytes that arrived."""
        self.rate(now)
        self._received += size

    def rate(self, now: float) -> float:
        """Return the bytes per second of the last full period, infinity before there was one."""
        if now - self._since >= _RATE_PERIOD:
            self._rate = self._received / (now - self._since)
            self._since, self._received = now, 0
        return self._rate

    def stop(self) -> None:
        """Free the place of the upload at once; its request ends with TimeoutError."""
        self._file.close()
        self._timeout.reschedule(0)


class Uploads:
    """The uploads of one application: a bounded number, of which the slowest make room for new ones.

    Clients that send just fast enough not to be cut off would otherwise keep everyone else from importing.
    """

    def __init__(self) -> None:
        self._spool = Spool("imports", max_files=_MAX_FILES)
        self._transfers: set[_Transfer] = set()

    @asynccontextmanager
    async def received(self, request: Request, user_id: int | None) -> AsyncIterator[Upload]:
        """Receive the body of a user's request, and keep it until the block ends.

        Raises:
            HttpError: the body is too large, there is no room for it, or it was so slow that it had to make room.
            ClientDisconnect: the client went away before the end of the body.
        """
        share = ("user", user_id)
        self._spool.check_share(share)
        if self._spool.is_full():
            self._stop_slowest()
        file = self._spool.open(share)
        try:
            yield Upload(file, await self._receive(request, file))
        finally:
            file.close()

    def _stop_slowest(self) -> None:
        now = asyncio.get_running_loop().time()
        slowest = min(self._transfers, key=lambda transfer: transfer.rate(now), default=None)
        if slowest is not None and slowest.rate(now) < _MIN_RATE:
            self._transfers.discard(slowest)
            slowest.stop()

    async def _receive(self, request: Request, file: SpooledFile) -> str:
        timeout = asyncio.timeout(None)
        transfer = _Transfer(file, timeout, asyncio.get_running_loop().time())
        self._transfers.add(transfer)
        try:
            async with timeout:
                return await _write_body(request, file, transfer)
        except TimeoutError:
            raise too_busy("imports") from None
        finally:
            self._transfers.discard(transfer)


def check_head(request: Request) -> None:
    """Refuse a request whose head shows that its body is not a file of lines.

    Raises:
        HttpError: it is too large, of another type, or compressed.
    """
    if request.headers.get(b"content-type", ("",))[0].partition(";")[0].strip().lower() not in IMPORTED:
        raise HttpError(415, f"Body should be {' or '.join(JSON_LINES)}")
    if is_compressed(request):
        raise HttpError(415, "Body should not be compressed")
    check_length(request, MAX_UPLOAD)


async def _write_body(request: Request, file: SpooledFile, transfer: _Transfer) -> str:
    """Write the body of a request into a file, and return its digest."""
    loop = asyncio.get_running_loop()
    digest, size, lines, more = hashlib.sha256(), 0, 0, True
    while more:
        message = await request.receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        chunk, more = message.get("body", b""), message.get("more_body", False)
        transfer.add(len(chunk), loop.time())
        size += len(chunk)
        lines += chunk.count(b"\n")
        if size > MAX_UPLOAD:
            raise too_large(MAX_UPLOAD)
        if lines > _MAX_LINES:
            raise HttpError(413, f"Body should have at most {_MAX_LINES} lines")
        digest.update(chunk)
        file.write(chunk)
    file.flush()
    return digest.hexdigest()

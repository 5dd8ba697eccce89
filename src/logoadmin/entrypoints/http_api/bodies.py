"""Receives the bodies of requests in time, into memory or, of imports, into spooled files (contract A21, H4, I4)."""

import asyncio
import hashlib
import math
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from logoadmin.entrypoints.http_api.errors import HttpError, too_busy
from logoadmin.entrypoints.http_api.operation import CSV, JSON, JSON_LINES, MAX_UPLOAD, SMALL_BODY, Operation
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.entrypoints.http_api.spool import LongResponses, Spool, SpooledFile
from logoadmin.ports.kernel.metrics import Metrics

# The memory limit of all unfinished large bodies. Anyone can start one: service keys are only checked later.
_MAX_HELD: Final = 64 * 1024 * 1024
_MAX_FILES: Final = 8
# In a file of MAX_UPLOAD bytes with more lines, each line would be shorter than the shortest record.
_MAX_LINES: Final = 2_000_000
# A slower upload makes room for another one when all places are taken.
_MIN_RATE: Final = 32_768.0  # bytes per second
# The rate is that of the last full period of this length; an upload is not judged before its first one has passed.
_RATE_PERIOD: Final = 2.0  # seconds

# A body: how long it may take, and how long it may pause. 500 bytes earn a second of pause, as in Apache's
# mod_reqtimeout.
_BODY_SECONDS: Final = 15.0
_BODY_PAUSE: Final = 5.0
_BODY_RATE: Final = 500.0


def check_head(request: Request, operation: Operation) -> None:
    """Refuse a request whose head shows that its body is none of the operation, before any of it is received.

    Raises:
        HttpError: it is of another type, compressed, or too large.
    """
    kind = request.media_type
    # Only a request without a body may leave out its type, which is not known yet.
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
    """Return the refusal of a body that does not say that it is a picture."""
    return HttpError(415, "Body should be a picture, as image/png or application/octet-stream")


def _too_large(most: int) -> HttpError:
    return HttpError(413, f"Body should have at most {most} bytes")


class TimedBody:
    """Receives a body, which must arrive steadily, and within a time if it has one."""

    def __init__(self, receive: Receive, seconds: float | None, metrics: Metrics) -> None:
        """Receive it within some seconds, or steadily if these are None; count its bytes."""
        self._receive = receive
        self._metrics = metrics
        self._left = seconds
        # For how long the client may still pause; what it sends earns it more.
        self._pause = _BODY_PAUSE

    async def part(self) -> tuple[bytes, bool]:
        """Return the next bytes, and whether there are more.

        Raises:
            HttpError: they do not arrive in time.
            ClientDisconnect: the client went away.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        limit = self._pause if self._left is None else min(self._pause, self._left)
        try:
            async with asyncio.timeout(max(limit, 0)):
                message = await self._receive()
        except TimeoutError:
            raise HttpError(408, "The body of the request did not arrive in time", {"connection": "close"}) from None
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        body: bytes = message.get("body", b"")
        waited = loop.time() - began
        self._metrics.request_body(len(body))
        self._pause = min(_BODY_PAUSE, self._pause - waited + len(body) / _BODY_RATE)
        self._left = None if self._left is None else self._left - waited
        return body, message.get("more_body", False)


class BodyReader:
    """Reads bodies, within a memory limit for the whole process.

    At the limit, the oldest large body is refused, not the newest one: clients that never finish their bodies would
    otherwise block everyone else.
    """

    def __init__(self, metrics: Metrics) -> None:
        """Read bodies, and count their bytes."""
        self._metrics = metrics
        self._large: dict[asyncio.Timeout, int] = {}  # sizes, in the order in which they became large

    async def read(self, receive: Receive, most: int) -> bytes:
        """Return the body of a request.

        Raises:
            HttpError: it is too large, too slow, or had to make room for others.
            ClientDisconnect: the client went away before the end of the body.
        """
        timed = TimedBody(receive, _BODY_SECONDS, self._metrics)
        body = bytearray()  # one, however small the parts in which it arrives
        more = True
        place = asyncio.timeout(None)
        try:
            async with place:
                while more:
                    chunk, more = await timed.part()
                    body += chunk
                    if len(body) > most:
                        raise _too_large(most)
                    if more and len(body) > SMALL_BODY:
                        self._hold(place, len(body))
        except TimeoutError:
            raise too_busy("large bodies") from None
        finally:
            self._large.pop(place, None)
        return bytes(body)

    def _hold(self, place: asyncio.Timeout, size: int) -> None:
        self._large[place] = size
        while sum(self._large.values()) > _MAX_HELD:
            first = next(iter(self._large))
            del self._large[first]
            first.reschedule(0)
        if place not in self._large:
            raise TimeoutError


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

    def __init__(self, budget: LongResponses[Any], metrics: Metrics) -> None:
        """Keep uploads within a budget of bytes, which others may share, and count their bytes."""
        self._metrics = metrics
        self._spool = Spool("imports", max_files=_MAX_FILES, budget=budget)
        self._transfers: set[_Transfer] = set()

    @asynccontextmanager
    async def received(self, receive: Receive, user_id: int | None) -> AsyncIterator[Upload]:
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
            # It must arrive steadily, but has no time limit.
            yield Upload(file, await self._receive(TimedBody(receive, None, self._metrics), file))
        finally:
            file.close()

    def _stop_slowest(self) -> None:
        now = asyncio.get_running_loop().time()
        slowest = min(self._transfers, key=lambda transfer: transfer.rate(now), default=None)
        if slowest is not None and slowest.rate(now) < _MIN_RATE:
            self._transfers.discard(slowest)
            slowest.stop()

    async def _receive(self, body: TimedBody, file: SpooledFile) -> str:
        timeout = asyncio.timeout(None)
        transfer = _Transfer(file, timeout, asyncio.get_running_loop().time())
        self._transfers.add(transfer)
        try:
            async with timeout:
                return await _write_body(body, file, transfer)
        except TimeoutError:
            raise too_busy("imports") from None
        finally:
            self._transfers.discard(transfer)


async def _write_body(body: TimedBody, file: SpooledFile, transfer: _Transfer) -> str:
    """Write the body of a request into a file, and return its digest."""
    loop = asyncio.get_running_loop()
    digest, size, lines, more = hashlib.sha256(), 0, 0, True
    while more:
        chunk, more = await body.part()
        transfer.add(len(chunk), loop.time())
        size += len(chunk)
        lines += chunk.count(b"\n")
        if size > MAX_UPLOAD:
            raise _too_large(MAX_UPLOAD)
        if lines > _MAX_LINES:
            raise HttpError(413, f"Body should have at most {_MAX_LINES} lines")
        digest.update(chunk)
        file.write(chunk)
    file.flush()
    return digest.hexdigest()

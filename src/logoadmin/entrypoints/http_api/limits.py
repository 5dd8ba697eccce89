"""Limits on slow clients: time and rate of bodies that arrive, and of responses that are read (contract H4, K2, K8).

They measure only the time for which a client keeps the service waiting, so a slow service is never the client's fault.
What passes through them is counted.
"""

import asyncio
import time
from collections.abc import Awaitable
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.operation import IMPORTED, Operation
from logoadmin.entrypoints.http_api.request import request_of
from logoadmin.ports.kernel.metrics import Metrics, NoMetrics

OTHER: Final = "other"
# Any other status, such as that of a client that went away, is counted as other.
STATUSES: Final = {
    status: str(status)
    for status in (
        *(200, 201, 204, 206, 304, 307, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 421, 422, 428, 429, 431),
        *(500, 503),
    )
}
# A body: how long it may take, and how long it may pause. 500 bytes earn a second of pause, as in Apache's
# mod_reqtimeout.
BODY_SECONDS: Final = 15.0
_BODY_PAUSE: Final = 5.0
_BODY_RATE: Final = 500.0
# A reader of 8 KiB/s over 30 s earns twice the time that it takes; half is for what the systems on both sides hold
# back and hand on at once.
_READER_PAUSE: Final = 60.0
_READER_RATE: Final = 4_096.0
# The size of the slices in which a response is passed to the server.
_SLICE: Final = 65_536


class SlowReader(ClientDisconnect):
    """The client reads too slowly; its response is aborted."""

    def __init__(self) -> None:
        super().__init__("the client reads too slowly")


def count_response(
    metrics: Metrics, operation: Operation | None, status: int, size: int, seconds: float, *, from_cache: bool = False
) -> None:
    """Count a response; its labels are from fixed sets."""
    name = OTHER if operation is None else operation.name
    metrics.response(name, STATUSES.get(status, OTHER), size, seconds, from_cache=from_cache)


class ClientLimits:
    """Keeps slow clients from holding requests open, and counts requests; the server limits heads and connections."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None = None) -> None:
        """Stand in front of an application that puts the operation of a request into its state."""
        self._app = app
        self._metrics = metrics or NoMetrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with limits on its body and on the client that reads the response; count it at its end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics, request, reader = self._metrics, request_of(scope), _TimedReader(send)
        if scope["method"] not in ("GET", "HEAD"):
            # An import must arrive steadily, but has no time limit.
            receive = _TimedBody(receive, None if request.media_type in IMPORTED else BODY_SECONDS, metrics)
        metrics.request_started()
        began = request.began or time.perf_counter()
        try:
            await self._app(scope, receive, reader)
        except Exception:
            reader.status = reader.status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request.operation, reader.status, reader.sent, time.perf_counter() - began)


class _Allowance:
    """The seconds for which a client may still pause; what it sends or reads earns it more, up to a maximum."""

    __slots__ = ("_most", "_rate", "seconds")

    def __init__(self, most: float, rate: float) -> None:
        self.seconds = self._most = most
        self._rate = rate

    def settle(self, waited: float, size: int) -> None:
        self.seconds = min(self._most, self.seconds - waited + size / self._rate)


class _TimedBody:
    """Receives a body, which must arrive steadily, and within a time if it has one."""

    __slots__ = ("_is_complete", "_left", "_metrics", "_pause", "_receive")

    def __init__(self, receive: Receive, seconds: float | None, metrics: Metrics) -> None:
        self._receive = receive
        self._metrics = metrics
        self._left = seconds
        self._pause = _Allowance(_BODY_PAUSE, _BODY_RATE)
        self._is_complete = False

    async def __call__(self) -> Message:
        """Return the next message.

        Raises:
            HttpError: it does not arrive in time.
        """
        if self._is_complete:
            return await self._receive()
        began = asyncio.get_running_loop().time()
        limit = self._pause.seconds if self._left is None else min(self._pause.seconds, self._left)
        try:
            async with asyncio.timeout(max(limit, 0)):
                message = await self._receive()
        except TimeoutError:
            self._is_complete = True
            raise HttpError(408, "The body of the request did not arrive in time", {"connection": "close"}) from None
        waited, size = asyncio.get_running_loop().time() - began, len(message.get("body", b""))
        self._metrics.request_body(size)
        self._pause.settle(waited, size)
        self._left = None if self._left is None else self._left - waited
        self._is_complete = not message.get("more_body", False)
        return message


class _TimedReader:
    """Sends a response: a long one in slices, and only as long as the client reads them.

    Attributes:
        status: its status, 0 before it begins.
        sent: the bytes of its body so far.
    """

    __slots__ = ("_pause", "_send", "sent", "status")

    def __init__(self, send: Send) -> None:
        self.status = self.sent = 0
        self._send = send
        self._pause: _Allowance | None = None

    # Short responses, which are nearly all, avoid an additional coroutine.
    def __call__(self, message: Message) -> Awaitable[None]:
        """Send a part of the response.

        Raises:
            SlowReader: the client does not read.
        """
        size = len(message.get("body", b""))
        self.sent += size
        if message["type"] == "http.response.start":
            self.status = message["status"]
        if self._pause is None:
            if size <= _SLICE and not message.get("more_body", False):
                return self._send(message)
            self._pause = _Allowance(_READER_PAUSE, _READER_RATE)
        return self._send_slices(message, self._pause)

    async def _send_slices(self, message: Message, pause: _Allowance) -> None:
        body = memoryview(message.get("body", b""))  # avoids copies
        while len(body) > _SLICE:
            await self._send_slice({"type": "http.response.body", "body": body[:_SLICE], "more_body": True}, pause)
            body = body[_SLICE:]
        await self._send_slice({**message, "body": body}, pause)

    async def _send_slice(self, message: Message, pause: _Allowance) -> None:
        loop = asyncio.get_running_loop()
        began = loop.time()
        try:
            async with asyncio.timeout(max(pause.seconds, 0)):
                await self._send(message)
        except TimeoutError:
            raise SlowReader from None
        pause.settle(loop.time() - began, len(message["body"]))

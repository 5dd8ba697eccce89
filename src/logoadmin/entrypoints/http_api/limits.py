"""Limits on slow clients: time and rate of bodies that arrive, and of responses that are read (contract H4, K8).

They measure only the time for which a client keeps the service waiting, so a slow service is never the client's fault.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.entrypoints.http_api.conditions import header_values
from logoadmin.entrypoints.http_api.errors import HttpError
from logoadmin.entrypoints.http_api.media_types import IMPORTED

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


class ClientLimits:
    """Keeps slow clients from holding requests open; the server limits heads and connections."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with limits on its body and on the client that reads the response."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        if scope["method"] not in ("GET", "HEAD"):
            receive = _TimedBody(receive, BODY_SECONDS if not _is_json_lines(scope) else None)
        await self._app(scope, receive, _TimedReader(send))


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

    __slots__ = ("_is_complete", "_left", "_pause", "_receive")

    def __init__(self, receive: Receive, seconds: float | None) -> None:
        self._receive = receive
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
        waited = asyncio.get_running_loop().time() - began
        self._pause.settle(waited, len(message.get("body", b"")))
        self._left = None if self._left is None else self._left - waited
        self._is_complete = not message.get("more_body", False)
        return message


class _TimedReader:
    """Sends a response: a long one in slices, and only as long as the client reads them."""

    __slots__ = ("_pause", "_send")

    def __init__(self, send: Send) -> None:
        self._send = send
        self._pause: _Allowance | None = None

    # Short responses, which are nearly all, avoid an additional coroutine.
    def __call__(self, message: Message) -> Awaitable[None]:
        """Send a part of the response.

        Raises:
            SlowReader: the client does not read.
        """
        if self._pause is None:
            if len(message.get("body", b"")) <= _SLICE and not message.get("more_body", False):
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


def _is_json_lines(scope: Scope) -> bool:
    """Return whether the body is an import, which must arrive steadily but has no time limit."""
    kinds = header_values(scope, b"content-type")
    return len(kinds) == 1 and kinds[0].partition(";")[0].strip().lower() in IMPORTED

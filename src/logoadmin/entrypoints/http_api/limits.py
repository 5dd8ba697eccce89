"""Limits on slow clients: the rate at which they read responses (contract H4, K2, K8).

They measure only the time for which a client keeps the service waiting, so a slow service is never the client's fault.
What passes through them is counted.
"""

import asyncio
from collections.abc import Awaitable
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.entrypoints.http_api.request import count_response, request_of
from logoadmin.ports.kernel.metrics import Metrics, NoMetrics

# A reader of 8 KiB/s over 30 s earns twice the time that it takes; half is for what the systems on both sides hold
# back and hand on at once.
_READER_PAUSE: Final = 60.0
_READER_RATE: Final = 4_096.0
# The size of the slices in which a response is passed to the server.
SLICE: Final = 65_536


class SlowReader(ClientDisconnect):
    """The client reads too slowly; its response is aborted."""

    def __init__(self) -> None:
        super().__init__("the client reads too slowly")


class ClientLimits:
    """Keeps slow clients from holding requests open, and counts requests; the server limits heads and connections.

    Endpoints of operations do both themselves, and limit only what can be slow.
    """

    def __init__(self, app: ASGIApp, metrics: Metrics | None = None) -> None:
        """Stand in front of an application that puts the operation of a request into its state."""
        self._app = app
        self._metrics = metrics or NoMetrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, with a limit on the client that reads the response; count it at its end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics, request, reader = self._metrics, request_of(scope), TimedReader(send)
        metrics.request_started()
        try:
            await self._app(scope, receive, reader)
        except Exception:
            reader.status = reader.status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request, reader.status, reader.sent)


class _Allowance:
    """The seconds for which a client may still pause; what it reads earns it more, up to a maximum."""

    __slots__ = ("_most", "_rate", "seconds")

    def __init__(self, most: float, rate: float) -> None:
        self.seconds = self._most = most
        self._rate = rate

    def settle(self, waited: float, size: int) -> None:
        self.seconds = min(self._most, self.seconds - waited + size / self._rate)


class TimedReader:
    """Sends a response: a long one in slices, and only as long as the client reads them.

    Attributes:
        status: its status, 0 before it begins.
        sent: the bytes of its body so far.
    """

    __slots__ = ("_pause", "_send", "sent", "status")

    def __init__(self, send: Send) -> None:
        """Send it to a client."""
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
            if size <= SLICE and not message.get("more_body", False):
                return self._send(message)
            self._pause = _Allowance(_READER_PAUSE, _READER_RATE)
        return self._send_slices(message, self._pause)

    async def _send_slices(self, message: Message, pause: _Allowance) -> None:
        body = memoryview(message.get("body", b""))  # avoids copies
        while len(body) > SLICE:
            await self._send_slice({"type": "http.response.body", "body": body[:SLICE], "more_body": True}, pause)
            body = body[SLICE:]
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

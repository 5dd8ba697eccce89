"""Sends responses: long ones in slices, and counted (contract E1, K2)."""

from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.entrypoints.http_api.request import count_response, request_of
from logoadmin.ports.metrics import Metrics, NoMetrics

# The server buffers one slice for a slow reader, not the whole response.
SLICE: Final = 65_536  # bytes


async def send_body(send: Send, body: bytes, *, more: bool = False) -> None:
    """Send a body, or a part of one that has more."""
    rest = memoryview(body)  # avoids copies
    while len(rest) > SLICE:
        await send({"type": "http.response.body", "body": rest[:SLICE], "more_body": True})
        rest = rest[SLICE:]
    await send({"type": "http.response.body", "body": bytes(rest), "more_body": more})


class CountedRequests:
    """Counts the requests of an application, and sends its responses in slices; endpoints of operations do both."""

    def __init__(self, app: ASGIApp, metrics: Metrics | None = None) -> None:
        """Stand in front of an application."""
        self._app = app
        self._metrics = metrics or NoMetrics()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it at its end."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        metrics, request, response = self._metrics, request_of(scope), _CountedResponse(send)
        metrics.request_started()
        try:
            await self._app(scope, receive, response)
        except Exception:
            response.status = response.status or 500
            raise
        finally:
            metrics.request_ended()
            count_response(metrics, request, response.status, response.size)


class _CountedResponse:
    """Sends a response.

    Attributes:
        status: its status, 0 before it begins.
        size: the bytes of its body so far.
    """

    __slots__ = ("_send", "size", "status")

    def __init__(self, send: Send) -> None:
        self.status = self.size = 0
        self._send = send

    async def __call__(self, message: Message) -> None:
        """Send a part of the response."""
        body = message.get("body", b"")
        self.size += len(body)
        if message["type"] == "http.response.start":
            self.status = message["status"]
        if len(body) > SLICE:
            await send_body(self._send, body, more=message.get("more_body", False))
        else:
            await self._send(message)

"""Clients that take their answers: little is held for each, and who takes too little is cut off (contract H4, K8)."""

import asyncio
from collections.abc import Awaitable, Callable
from math import inf
from typing import Any

from logoadmin.entrypoints.server.protocol.bounds import Bounds
from logoadmin.entrypoints.server.protocol.deadline import Deadline


class Reader:
    """How much the client of one connection takes of what is written to it.

    Only the time counts for which it keeps the server waiting, so whoever waits for the server is never slow.

    Attributes:
        since: when it began to keep the server waiting, in the time of the event loop; infinity while it does not.
    """

    __slots__ = ("_bounds", "_deadline", "_loop", "_mark", "_transport", "_waited", "_written", "since")

    def __init__(self, loop: asyncio.AbstractEventLoop, bounds: type[Bounds], transport: asyncio.Transport) -> None:
        """Measure a client by these bounds; a connection that is too slow is ended through its transport."""
        self._loop = loop
        self._bounds = bounds
        self._transport = transport
        self._deadline = Deadline(loop, self._look)
        self._written = self._mark = 0
        self._waited = 0.0
        self.since = inf
        transport.set_write_buffer_limits(bounds.write_ahead_bytes)

    # No coroutine of its own for what is short, as nearly all is.
    def pass_on(self, send: Callable[[Any], Awaitable[None]], message: Any) -> Awaitable[None]:
        """Send a part of an answer, little by little, so that the transport holds no more than a slice of it."""
        length = len(message.get("body", b""))
        if length > self._bounds.slice_bytes:
            return self._in_slices(send, message)
        self._written += length
        return send(message)

    async def _in_slices(self, send: Callable[[Any], Awaitable[None]], message: Any) -> None:
        body: bytes | memoryview = message["body"]
        while len(body) > self._bounds.slice_bytes:
            now, body = _cut(body, self._bounds.slice_bytes)
            await send({"type": "http.response.body", "body": now, "more_body": True})
            self._written += len(now)
        await send({**message, "body": body})
        self._written += len(body)

    def keeps_waiting(self) -> None:
        """Begin to wait until it has taken more."""
        self.since = self._loop.time()
        self._deadline.within(self._bounds.write_seconds - self._waited)

    def goes_on(self) -> None:
        """Stop waiting: it has taken more."""
        self._waited += self._loop.time() - self.since
        self.since = inf
        self._deadline.lift()

    def end(self) -> None:
        """Measure no more: the connection is over."""
        self._deadline.end()

    def _look(self) -> None:
        """End the connection of a client that took too little for the time that the server has waited for it."""
        taken = self._written - self._transport.get_write_buffer_size()
        if taken - self._mark < self._bounds.write_bytes:
            self._transport.abort()
            return
        self._mark, self._waited = taken, 0.0
        self.keeps_waiting()


def _cut(body: bytes | memoryview, size: int) -> tuple[memoryview, memoryview]:
    view = memoryview(body)  # so that nothing is copied
    return view[:size], view[size:]

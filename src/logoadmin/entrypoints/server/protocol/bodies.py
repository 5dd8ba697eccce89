"""Bodies that are on their way (contract H4)."""

import asyncio
from collections.abc import Callable

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from logoadmin.entrypoints.http_api.uploads import STEADY
from logoadmin.entrypoints.server.protocol.bounds import Bounds


class UnfinishedBody:
    """A body of which something is missing: it has a time and a pace to keep.

    An answer before the body is there closes the connection: nobody reads an endless body to its end.

    Attributes:
        cycle: the request.
        keep_alive: whether its connection may be kept if it gets whole before it is answered.
    """

    def __init__(
        self,
        cycle: RequestResponseCycle,
        linger: Callable[[], None],
        bounds: type[Bounds],
        now: float,
        received: int,
    ) -> None:
        """Begin to wait, when the connection has received so many bytes of bodies."""
        self.cycle = cycle
        self._bounds = bounds
        self._due = now + bounds.body_seconds
        self._received = received
        self._is_stopping = False
        self._transport = cycle.transport
        self.keep_alive = cycle.keep_alive
        cycle.keep_alive, cycle.transport = False, _LingeringTransport(cycle.transport, linger)

    def arrived(self) -> None:
        """Let the connection be kept, unless the client has been told that it closes."""
        if not self.cycle.response_started:
            self.cycle.keep_alive, self.cycle.transport = self.keep_alive, self._transport

    def seconds(self, now: float) -> float:
        """Return after how many seconds the body is to be looked at."""
        return self._bounds.pace_seconds if self._is_steady() else min(self._bounds.pace_seconds, self._due - now)

    def is_late(self, now: float, received: int) -> bool:
        """Return whether the time is over, or too little came since the last look."""
        too_little = received - self._received < self._bounds.pace_bytes
        self._received = received
        return too_little or (now >= self._due and not self._is_steady())

    def _is_steady(self) -> bool:
        """Return whether it may take longer than others as long as it comes steadily (contract H4)."""
        return bool(self.cycle.scope.get(STEADY)) and not self._is_stopping

    def extend(self, received: int) -> None:
        """Give it the time since the last look again, in which nobody read."""
        self._due += self._bounds.pace_seconds
        self._received = received

    def shorten(self, now: float) -> float:
        """Give it less time, because the service stops; return the seconds that are left."""
        self.keep_alive, self._is_stopping = False, True
        self._due = min(self._due, now + self._bounds.stop_seconds)
        return self._due - now


class _LingeringTransport(asyncio.Transport):
    """The transport that an answer gets which may be complete before its request is."""

    def __init__(self, transport: asyncio.Transport, linger: Callable[[], None]) -> None:
        super().__init__()
        self._transport = transport
        self._linger = linger

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._transport.write(data)

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self._linger()

"""Limits on connections that an ASGI application cannot set, around uvicorn's protocol (contract A21, H4).

They stand on asyncio's protocol interface alone: a head is held back until it is complete, so that uvicorn never sees a
part of one, and the bytes of a body are counted. :mod:`logoadmin.entrypoints.http_api.bodies` has the limits of bodies.
"""

import asyncio
import json
import re
import sys
from contextlib import suppress
from typing import Any, ClassVar, Final

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]  # not on Windows

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_OPEN_FILES: Final = 65_536
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*(\d{1,19})[ \t]*\r\n")
_CHUNKED: Final = re.compile(rb"(?i)\r\ntransfer-encoding:")
# An offer to upgrade, such as to HTTP/2, may be ignored (RFC 9110 §7.8). The parser would lose the body behind it, and
# Java's client and ``curl --http2`` send their first POST like this.
_OFFER: Final = re.compile(rb"(?i)\r\nupgrade:")


def allow_many_connections() -> None:
    """Let the process have as many connections as the system allows, often 1,024 by default (contract H4)."""
    if resource:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Stoppable(HttpToolsProtocol):
    """uvicorn's protocol, which a server that stops leaves to its next request for some seconds.

    A proxy that has just sent a request does not find the connection closed (contract K5).
    """

    idle_seconds: ClassVar[float] = 4
    is_stopping = False

    def shutdown(self) -> None:
        self.is_stopping = True
        asyncio.get_running_loop().call_later(self.idle_seconds, self.close_once_answered)

    def close_once_answered(self) -> None:
        """End an idle connection, or let the response in progress be the last."""
        super().shutdown()


class BoundedProtocol(asyncio.Protocol):
    """One connection.

    Attributes:
        head_seconds: from the connection, or the first byte of a later head, to the end of the head.
        head_bytes: how long a head may be.
        body_seconds: from the end of a head to the end of the body.
        chunked_bytes: how much a connection may send after a head with a body in chunks, which is its last request.
    """

    head_seconds: ClassVar[float] = 10
    head_bytes: ClassVar[int] = 65_536
    body_seconds: ClassVar[float] = 660
    chunked_bytes: ClassVar[int] = 128 * 1024 * 1024
    connections: ClassVar[int] = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        self._inner = _Stoppable(*args, **options)
        self._head = b""
        self._is_first, self._is_over, self._is_chunked = True, False, False
        self._to_come = 0  # bytes of a body
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def most_connections(cls) -> int:
        """Return how many connections there may be; a quarter of the files that may be open is for other things."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
        return files * 3 // 4 if files >= 0 else sys.maxsize  # negative where there is no limit

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as asyncio calls it
        self._transport = transport
        BoundedProtocol.connections += 1
        self._inner.connection_made(transport)
        if BoundedProtocol.connections > self.most_connections():
            transport.abort()
        else:
            self._end_in(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        BoundedProtocol.connections -= 1
        self._disarm()
        self._inner.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on what is complete, and hold back the part of a head."""
        while data and not self._is_over and not self._transport.is_closing():
            data = self._body_received(data) if self._to_come else self._head_received(data)

    def _body_received(self, data: bytes) -> bytes:
        """Pass on a part of a body; return the bytes after it."""
        part, rest = data[: self._to_come], data[self._to_come :]
        self._to_come -= len(part)
        if not self._to_come:
            self._disarm()
        self._inner.data_received(part)
        if self._is_chunked and not self._to_come:
            self._is_over = True
            self._transport.abort()
        return rest

    def _head_received(self, data: bytes) -> bytes:
        """Pass on a head once it is complete; return the bytes after it."""
        if not self._head and not data[:1].isalpha() and data[:1] not in b"\r\n":
            self._inner.data_received(data)  # not HTTP, which the parser refuses
            return b""
        is_begun, data = bool(self._head) or self._is_first, self._head + data
        head, end, rest = data.partition(b"\r\n\r\n")
        if len(head) > self.head_bytes:
            self._refuse(
                "431 Request Header Fields Too Large", f"The request has a head of over {self.head_bytes} bytes"
            )
        elif not end:
            self._head = data
            if not is_begun:
                self._end_in(self.head_seconds)
        else:
            self._head, self._is_first = b"", False
            self._disarm()
            self._inner.data_received(self._with_body(head + end))
            return rest
        return b""

    def _with_body(self, head: bytes) -> bytes:
        """Note how long the body behind a head is; return the head as it is passed on."""
        if _CHUNKED.search(head):
            self._to_come, self._is_chunked = self.chunked_bytes, True
        elif length := _LENGTH.search(head):
            self._to_come = int(length[1])
        if self._to_come:
            self._end_in(self.body_seconds)
        if self._is_chunked or self._inner.is_stopping:
            head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        return _OFFER.sub(b"\r\nX-Upgrade:", head)

    def _end_in(self, seconds: float) -> None:
        self._disarm()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._time_out)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        if self._to_come:
            self._transport.close()
        else:
            self._refuse("408 Request Timeout", "The head of the request did not arrive in time")

    def _refuse(self, status: str, detail: str) -> None:
        """Respond in place of the application, unless an earlier response may still be on its way, and close."""
        self._is_over = True
        self._disarm()
        if self._is_first:
            body = json.dumps({"detail": detail})
            self._transport.write(
                f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
                f"cache-control: no-store\r\nconnection: close\r\n\r\n{body}".encode()
            )
            self._transport.close()
        else:
            self._inner.close_once_answered()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def eof_received(self) -> None:
        self._inner.eof_received()

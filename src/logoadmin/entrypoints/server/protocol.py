"""Limits on connections that an ASGI application cannot set, in front of uvicorn's protocol (contract A21, H4).

A head is held back until it is complete, so that uvicorn never sees part of one, and the bytes of a body are counted.
:mod:`logoadmin.entrypoints.http_api.bodies` limits bodies.
"""

import asyncio
import json
import re
import sys
from contextlib import suppress
from typing import Any, ClassVar, Final, cast

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]  # not on Windows

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

_OPEN_FILES: Final = 65_536
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*0*(\d{1,19})[ \t]*\r\n")
_CODING: Final = re.compile(rb"(?i)\r\ntransfer-encoding:([^\r\n]*)")
# An offer to upgrade, such as to HTTP/2, may be ignored (RFC 9110 §7.8). The parser would lose the body after it, and
# Java's client and ``curl --http2`` send their first POST this way.
_OFFER: Final = re.compile(rb"(?i)\r\nupgrade:")


def allow_many_connections() -> None:
    """Raise the limit of open files, often 1,024 by default, to what the system allows (contract H4)."""
    if resource:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class BoundedProtocol(HttpToolsProtocol):
    """One connection.

    Attributes:
        head_seconds: the time limit for a head, from the connection or, for later heads, from the first byte.
        head_bytes: the maximum size of a head.
        body_seconds: the time limit for a body, from the end of the head.
        chunked_bytes: the limit for data after the head of a chunked body, which ends the connection.
        idle_seconds: how long a stopping server keeps an idle connection open, since a proxy may just have sent a
            request (contract K5).
    """

    head_seconds: ClassVar[float] = 10
    head_bytes: ClassVar[int] = 65_536
    body_seconds: ClassVar[float] = 660
    chunked_bytes: ClassVar[int] = 128 * 1024 * 1024
    idle_seconds: ClassVar[float] = 4
    open_connections: ClassVar[int] = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        self._head = b""
        self._heads = 0  # that have begun
        self._remaining = 0  # bytes of the body
        self._is_chunked = self._is_stopping = self._is_refused = False
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def most_connections(cls) -> int:
        """Return the maximum number of connections; a quarter of the limit of open files is left for other uses."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
        return files * 3 // 4 if files >= 0 else sys.maxsize  # negative means unlimited

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as asyncio calls it
        BoundedProtocol.open_connections += 1
        super().connection_made(cast(asyncio.Transport, _Writable(transport)))
        if BoundedProtocol.open_connections > self.most_connections():
            transport.abort()
        else:
            self._end_in(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        BoundedProtocol.open_connections -= 1
        self._end_in(None)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass on bodies and complete heads, and hold back incomplete heads."""
        while data and not (self._is_refused or self.transport.is_closing()):
            data = self._body_received(data) if self._remaining else self._head_received(data)

    def _body_received(self, data: bytes) -> bytes:
        """Pass on data of a body; return the bytes after the body."""
        part, rest = data[: self._remaining], data[self._remaining :]
        self._remaining -= len(part)
        if not self._remaining:
            self._end_in(None)
        super().data_received(part)
        if self._is_chunked and not self._remaining:
            self.transport.abort()
        return rest

    def _head_received(self, data: bytes) -> bytes:
        """Pass on a head once it is complete; return the bytes after it."""
        if not self._head:
            data = data.lstrip(b"\r\n")  # empty lines do not start a request or a timer (RFC 9112 §2.2)
            if not data:
                return b""
            self._heads += 1
            if not data[:1].isalpha():
                super().data_received(data)  # not HTTP, which the parser rejects
                return b""
        head, end, rest = (self._head + data).partition(b"\r\n\r\n")
        self._head = b"" if end else head
        if len(head) > self.head_bytes:
            text = f"The request has a head of over {self.head_bytes} bytes"
            self._refuse("431 Request Header Fields Too Large", text)
        elif end and any(coding.strip().lower() != b"chunked" for coding in _CODING.findall(head)):
            self._refuse("501 Not Implemented", "Transfer-Encoding should be chunked")  # RFC 9112 §6.1
        elif end:
            self._end_in(None)
            super().data_received(self._with_body(head + end))
        elif self._timer is None:
            self._end_in(self.head_seconds)
        return rest

    def _with_body(self, head: bytes) -> bytes:
        """Record the length of the body after a head; return the head to pass on."""
        if _CODING.search(head):
            self._remaining, self._is_chunked = self.chunked_bytes, True
        elif length := _LENGTH.search(head):
            self._remaining = int(length[1])
        if self._remaining:
            self._end_in(self.body_seconds)
        if self._is_chunked or self._is_stopping:
            head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        return _OFFER.sub(b"\r\nX-Upgrade:", head)

    def _end_in(self, seconds: float | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = None if seconds is None else asyncio.get_running_loop().call_later(seconds, self._time_out)

    def _time_out(self) -> None:
        if self._remaining:
            self.transport.close()
        else:
            self._refuse("408 Request Timeout", "The head of the request did not arrive in time")

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid HTTP; uvicorn would respond in plain text."""
        self._refuse("400 Bad Request", msg)

    def _refuse(self, status: str, detail: str) -> None:
        """Respond in place of the application, unless an earlier response may still be in progress, and close."""
        self._is_refused = True
        if self._heads > 1:
            super().shutdown()
            return
        body = json.dumps({"detail": detail})
        self.transport.write(
            f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
            f"cache-control: no-store\r\nconnection: close\r\n\r\n{body}".encode()
        )
        self.transport.close()

    def shutdown(self) -> None:
        """Close the connection, which uvicorn asks for when it stops; an idle one a little later."""
        self._is_stopping = True
        asyncio.get_running_loop().call_later(self.idle_seconds, super().shutdown)


class _Writable:
    """A transport that ignores writes once it is closed, as asyncio documents; uvloop's raises an error.

    uvicorn goes on to write responses to pipelined requests whose client has left.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        self._transport = transport
        self.is_closing = transport.is_closing  # asked for often

    def __getattr__(self, name: str) -> Any:
        return getattr(self._transport, name)

    def write(self, data: bytes) -> None:
        if not self.is_closing():
            self._transport.write(data)

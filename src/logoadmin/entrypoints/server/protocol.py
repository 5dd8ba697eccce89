"""Limits on connections that an ASGI application cannot set, around uvicorn's protocol (contract A21, H4).

They rely only on asyncio's protocol interface: a head is held back until it is complete, so that uvicorn never sees
part of a head, and the bytes of a body are counted. :mod:`logoadmin.entrypoints.http_api.bodies` limits bodies. Only
the form of the response to invalid HTTP depends on uvicorn's own methods.
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
_LENGTH: Final = re.compile(rb"(?i)\r\ncontent-length:[ \t]*0*(\d{1,19})[ \t]*\r\n")
_CHUNKED: Final = re.compile(rb"(?i)\r\ntransfer-encoding:")
# An offer to upgrade, such as to HTTP/2, may be ignored (RFC 9110 §7.8). The parser would lose the body after it, and
# Java's client and ``curl --http2`` send their first POST this way.
_OFFER: Final = re.compile(rb"(?i)\r\nupgrade:")
# A target as clients send it to proxies; its host counts, and that in Host does not (RFC 9112 §3.2.2).
_ABSOLUTE: Final = re.compile(rb"(?i)([a-z]+ )https?://([^/?#\s]*)(?=[/?# ])")
_HOST: Final = re.compile(rb"(?i)\r\nhost:[^\r\n]*")


def allow_many_connections() -> None:
    """Raise the limit of open files, often 1,024 by default, to what the system allows (contract H4)."""
    if resource:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class _Stoppable(HttpToolsProtocol):
    """uvicorn's protocol, which keeps an idle connection of a stopping server open for some seconds.

    A proxy that has just sent a request thus does not find the connection closed (contract K5).
    """

    idle_seconds: ClassVar[float] = 4
    is_stopping = False
    is_broken = False

    def shutdown(self) -> None:
        self.is_stopping = True
        asyncio.get_running_loop().call_later(self.idle_seconds, self.close_after_response)

    def close_after_response(self) -> None:
        """Close an idle connection, or close it after the response in progress."""
        super().shutdown()

    def send_400_response(self, msg: str) -> None:
        """Respond to invalid HTTP in the form of all errors (contract A21), or end after earlier responses."""
        current, self.is_broken = self.cycle, True
        if current is not None and not current.response_complete and (self.pipeline or not current.more_body):
            self.close_after_response()
        else:
            refuse(self.transport, "400 Bad Request", msg)


def _in_origin_form(head: bytes) -> bytes:
    """Return a head whose target is a path, and whose host is that of an absolute target."""
    absolute = _ABSOLUTE.match(head)
    if absolute is None:
        return head
    method, host = absolute.groups()
    rest = _HOST.sub(lambda _: b"\r\nHost: " + host, head[absolute.end() :])
    return method + (b"" if rest.startswith(b"/") else b"/") + rest


def refuse(transport: asyncio.Transport, status: str, detail: str) -> None:
    """Respond in place of the application, and close the connection."""
    body = json.dumps({"detail": detail})
    transport.write(
        f"HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n"
        f"cache-control: no-store\r\nconnection: close\r\n\r\n{body}".encode()
    )
    transport.close()


class BoundedProtocol(asyncio.Protocol):
    """One connection.

    Attributes:
        head_seconds: the time limit for a head, from the connection or, for later heads, from the first byte.
        head_bytes: the maximum size of a head.
        body_seconds: the time limit for a body, from the end of the head.
        chunked_bytes: the limit for data after the head of a chunked body, which ends the connection.
    """

    head_seconds: ClassVar[float] = 10
    head_bytes: ClassVar[int] = 65_536
    body_seconds: ClassVar[float] = 660
    chunked_bytes: ClassVar[int] = 128 * 1024 * 1024
    connections: ClassVar[int] = 0

    def __init__(self, *args: Any, **options: Any) -> None:
        self._inner = _Stoppable(*args, **options)
        self._head = b""
        self._is_first, self._is_finished, self._is_chunked = True, False, False
        self._remaining = 0  # bytes of the body
        self._timer: asyncio.TimerHandle | None = None

    @classmethod
    def most_connections(cls) -> int:
        """Return the maximum number of connections; a quarter of the limit of open files is left for other uses."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
        return files * 3 // 4 if files >= 0 else sys.maxsize  # negative means unlimited

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
        """Pass on bodies and complete heads, and hold back incomplete heads."""
        while data and not (self._is_finished or self._inner.is_broken or self._transport.is_closing()):
            data = self._body_received(data) if self._remaining else self._head_received(data)

    def _body_received(self, data: bytes) -> bytes:
        """Pass on data of a body; return the bytes after the body."""
        part, rest = data[: self._remaining], data[self._remaining :]
        self._remaining -= len(part)
        if not self._remaining:
            self._disarm()
        self._inner.data_received(part)
        if self._is_chunked and not self._remaining:
            self._is_finished = True
            self._transport.abort()
        return rest

    def _head_received(self, data: bytes) -> bytes:
        """Pass on a head once it is complete; return the bytes after it."""
        if not self._head:
            data = data.lstrip(b"\r\n")  # empty lines do not start a request or a timer (RFC 9112 §2.2)
            if data and not data[:1].isalpha():
                self._inner.data_received(data)  # not HTTP, which the parser rejects
                data = b""
            if not data:
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
        """Record the length of the body after a head; return the head to pass on."""
        if _CHUNKED.search(head):
            self._remaining, self._is_chunked = self.chunked_bytes, True
        elif length := _LENGTH.search(head):
            self._remaining = int(length[1])
        if self._remaining:
            self._end_in(self.body_seconds)
        if self._is_chunked or self._inner.is_stopping:
            head = head.replace(b"\r\n", b"\r\nConnection: close\r\n", 1)
        return _OFFER.sub(b"\r\nX-Upgrade:", _in_origin_form(head))

    def _end_in(self, seconds: float) -> None:
        self._disarm()
        self._timer = asyncio.get_running_loop().call_later(seconds, self._time_out)

    def _disarm(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _time_out(self) -> None:
        if self._remaining:
            self._transport.close()
        else:
            self._refuse("408 Request Timeout", "The head of the request did not arrive in time")

    def _refuse(self, status: str, detail: str) -> None:
        """Respond in place of the application, unless an earlier response may still be in progress, and close."""
        self._is_finished = True
        self._disarm()
        if self._is_first:
            refuse(self._transport, status, detail)
        else:
            self._inner.close_after_response()

    def pause_writing(self) -> None:
        self._inner.pause_writing()

    def resume_writing(self) -> None:
        self._inner.resume_writing()

    def eof_received(self) -> None:
        self._inner.eof_received()

"""HTTP/1.1 by uvicorn, with limits that an ASGI application cannot set (contract A21, H4).

They are those of heads, of connections that are idle, and of what a client sends or reads after the application has
responded. :mod:`logoadmin.entrypoints.http_api.limits` has those of bodies and of responses.
"""

import asyncio
import heapq
import logging
import sys
from contextlib import suppress
from typing import Any, ClassVar, Final

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]  # not on Windows

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.health import STOPPING

log = logging.getLogger("logoadmin.http")


_OPEN_FILES: Final = 65_536


def allow_many_connections() -> None:
    """Let the process have as many connections as the system allows, often 1,024 by default (contract H4)."""
    if resource:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        most = _OPEN_FILES if hard == resource.RLIM_INFINITY else min(hard, _OPEN_FILES)
        if soft != resource.RLIM_INFINITY and soft < most:
            with suppress(OSError, ValueError):
                resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))


class BoundedProtocol(HttpToolsProtocol):
    """One connection.

    One timer, which is uvicorn's for idle connections, looks at what a connection waits for whenever it passes.

    Attributes:
        head_seconds: from the connection, or the first byte of a head, to the end of the head.
        head_bytes: of path and headers, and of the framing between the chunks of a body.
        head_fields: how many headers, since each costs more memory than its bytes.
        pipelined: how many requests may wait for the response to an earlier one.
        linger_seconds: for reading a response that was sent before the request was complete.
        stall_seconds: for which a client may read nothing while the server holds as much as it may.
        write_ahead_bytes: how much the server holds of a response that is not read.
    """

    head_seconds: ClassVar[float] = 5
    head_bytes: ClassVar[int] = 32 * 1024
    head_fields: ClassVar[int] = 200
    pipelined: ClassVar[int] = 64
    linger_seconds: ClassVar[float] = 2
    stall_seconds: ClassVar[float] = 60
    write_ahead_bytes: ClassVar[int] = 16 * 1024

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._is_closing = self._head_has_begun = False  # once closing, nothing more is read
        self._unparsed = 0  # bytes since the end of a head, or since a part of a body
        self._keeps_alive = True
        self._stalled: asyncio.TimerHandle | None = None

    @classmethod
    def most_connections(cls) -> int:
        """Return how many connections there may be; a quarter of the files that may be open is for other things."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
        return files * 3 // 4 if files >= 0 else sys.maxsize  # negative where there is no limit

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        super().connection_made(transport)
        self._lingering: Any = _LingeringTransport(self)
        transport.set_write_buffer_limits(self.write_ahead_bytes)
        if len(self.connections) > self.most_connections():
            self._make_room()
        self._head_has_begun = True
        self._look_after(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self._unset_keepalive_if_required()
        self.resume_writing()

    # Requests.

    def data_received(self, data: bytes) -> None:
        """Parse what has arrived; this replaces uvicorn's method, whose timer any byte would stop."""
        if self._is_closing:
            return
        self._unparsed += len(data)
        try:
            self._feed(data)
        except httptools.HttpParserError as error:
            why = error.__context__
            self._refuse(why if isinstance(why, HttpError) else HttpError(400, "Invalid HTTP request"))
            return
        if self._unparsed > self.head_bytes:
            self._refuse(self._head_too_large())
        elif self.cycle is None or self.cycle.scope is not self.scope:
            if not self._head_has_begun:
                self._head_has_begun = True
                self._look_after(self.head_seconds)
        elif not self.cycle.response_complete:  # blank lines alone do not keep a connection
            self._unset_keepalive_if_required()

    def _feed(self, data: bytes) -> None:
        """Let the parser read what has arrived.

        A request that offers an upgrade, such as to HTTP/2, is read as one that does not (RFC 9110 §7.8). The parser
        loses its body, and takes it for another protocol or another request; Java's client and ``curl --http2`` send
        their first POST like this.
        """
        while True:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                data = self._head_without_offer() + data[offer.args[0] :]
            else:
                return
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)

    def _head_without_offer(self) -> bytes:
        method, headers = self.scope["method"].encode(), self.scope["headers"]
        if method == b"CONNECT":
            raise httptools.HttpParserError
        version = self.parser.get_http_version().encode()
        fields = (b"%b: %b\r\n" % (name, value) for name, value in headers if name != b"upgrade")
        return b"".join((method, b" ", self.url, b" HTTP/", version, b"\r\n", *fields, b"\r\n"))

    def _should_upgrade(self) -> bool:
        # With this uvicorn holds back every request that offers an upgrade, until _feed brings it again.
        return True

    def on_header(self, name: bytes, value: bytes) -> None:
        if len(self.headers) >= self.head_fields:
            raise self._head_too_large()
        super().on_header(name, value.strip(b" \t"))  # RFC 9112 §5; the parser leaves it at the end

    def on_headers_complete(self) -> None:
        """Check the head, and have the request answered."""
        self._check_head()
        super().on_headers_complete()
        self._unparsed, self._head_has_begun = 0, False
        self.headers = []  # uvicorn would add trailers to the headers of the request
        if not self.parser.should_upgrade():
            # A response that is sent before the body is complete closes the connection: nobody reads the rest.
            self._keeps_alive = self.cycle.keep_alive and STOPPING not in self.app_state
            self.cycle.keep_alive, self.cycle.transport = False, self._lingering

    def on_body(self, body: bytes) -> None:
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        super().on_message_complete()
        if not self.parser.should_upgrade() and not self.cycle.response_started:
            self.cycle.keep_alive, self.cycle.transport = self._keeps_alive, self.transport

    def _check_head(self) -> None:
        version = self.parser.get_http_version()
        size, hosts, codings = len(self.url), 0, 0
        for name, value in self.headers:
            size += len(name) + len(value) + 4
            hosts += name == b"host"
            codings += name == b"transfer-encoding" and (value.lower() != b"chunked" or version == "1.0")
        if size > self.head_bytes:
            raise self._head_too_large()
        if version not in ("1.1", "1.0"):
            raise HttpError(505, "Only HTTP/1.1 and HTTP/1.0 are supported")
        if hosts != 1 and (hosts or version != "1.0"):
            raise HttpError(400, "Exactly one Host header is required")
        if codings:
            raise HttpError(501, "Only chunked is supported as Transfer-Encoding, and only in HTTP/1.1")
        if len(self.pipeline) >= self.pipelined:
            raise HttpError(429, "Too many requests without waiting for a response")

    def _head_too_large(self) -> HttpError:
        return HttpError(431, f"The head of the request has more than {self.head_bytes} bytes or too many fields")

    # Slow clients.

    def _look_after(self, seconds: float) -> None:
        self._unset_keepalive_if_required()
        self.timeout_keep_alive_task = self.loop.call_later(seconds, self.timeout_keep_alive_handler)

    def timeout_keep_alive_handler(self) -> None:
        """Close, refuse or wait on: time has passed in which nothing complete arrived."""
        if self._is_closing:
            self.transport.abort()
        elif not self._head_has_begun:
            self._is_closing = True
            self.transport.close()
            self._look_after(self.stall_seconds)
        elif self._is_answering():  # a slow response is not the client's fault
            self._look_after(self.head_seconds)
        else:
            self._refuse(HttpError(408, "The head of the request did not arrive in time"))

    def pause_writing(self) -> None:
        super().pause_writing()
        self._stalled = self.loop.call_later(self.stall_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()
            self._stalled = None

    def _make_room(self) -> None:
        """End the connections that have kept the server waiting the longest, rather than refuse others (contract H4).

        Some at once, because it takes a look at all of them.
        """
        others: Any = self.connections - {self}
        waiting = [(timer, one) for one in others if (timer := one.timeout_keep_alive_task or one._stalled)]
        for _, one in heapq.nsmallest(len(waiting) // 16 + 1, waiting, key=lambda each: each[0].when()):
            one.transport.abort()

    # Responses.

    def _is_answering(self) -> bool:
        return self.cycle is not None and not self.cycle.response_complete

    def _refuse(self, refusal: HttpError) -> None:
        """Respond in place of the application, unless earlier responses are still to come, and close."""
        log.info("Refused %s with %d: %s", self.client and self.client[0], refusal.status, refusal)
        self._is_closing = True
        self._unset_keepalive_if_required()
        cycle = self.cycle
        if self._is_answering() and not (cycle.scope is self.scope and cycle.more_body):
            cycle.keep_alive = False
        elif self._is_answering() and self.pipeline:
            self.pipeline.popleft()  # its turn never comes
        elif self._is_answering() and cycle.response_started:
            self.transport.close()
        else:
            if self._is_answering():
                cycle.disconnected, cycle.waiting_for_100_continue = True, False
                cycle.message_event.set()
            response = error_response(HttpError(refusal.status, refusal.detail, {"connection": "close"}))
            headers = (*self.server_state.default_headers, *response.raw_headers)
            fields = (b"%b: %b\r\n" % header for header in headers)
            self.transport.write(b"".join((STATUS_LINE[refusal.status], *fields, b"\r\n", response.body)))
            self.linger()

    def on_response_complete(self) -> None:
        super().on_response_complete()
        if self.transport.is_closing():  # once the client has read the rest
            self._is_closing = True
            self._look_after(self.stall_seconds)
        elif self._is_closing:
            self._look_after(self.linger_seconds)

    def linger(self) -> None:
        """Close, but first give the client time to read the response while it still sends.

        Bytes that nobody has read when a socket is closed make the other side discard what it has not read.
        """
        if not self.transport.is_closing():
            self._is_closing = True
            self.pipeline.clear()  # could not be answered, so must not be carried out (RFC 9112 §9.6)
            self.transport.write_eof()
            self.flow.resume_reading()
            self._look_after(self.linger_seconds)

    def shutdown(self) -> None:
        """Answer what is in flight or arrives on this connection next, as its last; an idle one ends in its own time.

        Clients that have just sent a request do not find the connection closed (contract K5).
        """
        self._keeps_alive = False
        if self._is_answering() and not self.cycle.response_started:
            self.cycle.keep_alive = False


class _LingeringTransport:
    """The transport for a response that may be complete before its request is."""

    def __init__(self, protocol: BoundedProtocol) -> None:
        self.write, self.is_closing = protocol.transport.write, protocol.transport.is_closing
        self.close = protocol.linger

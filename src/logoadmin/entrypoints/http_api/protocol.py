"""HTTP/1.1 as the server speaks it: uvicorn's, with bounds on what a client may take (contract A21, H4).

A connection is always in one of three states, which follow from what uvicorn keeps: a head is awaited or unfinished
(``scope`` is not that of ``cycle``), a body is unfinished (``cycle.more_body``), or the request is whole. Only the
first two have a time limit, so a request that comes in one piece, as nearly all do, never touches a timer.
"""

import asyncio
import heapq
import logging
import sys
from asyncio.events import TimerHandle
from math import inf
from operator import attrgetter
from typing import TYPE_CHECKING, Any, ClassVar, Final

import httptools
from uvicorn.config import Config
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle
from uvicorn.server import ServerState

from logoadmin.domain.errors import StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError, error_response

try:
    import resource
except ImportError:  # Windows has no such limits
    resource = None  # type: ignore[assignment]  # not on Windows

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

log = logging.getLogger("logoadmin.http")

_CLOSE: Final = {"connection": "close"}


class BoundedProtocol(HttpToolsProtocol):
    """One connection.

    Attributes:
        head_seconds: from the first byte of a head, or from the connection, to the end of the head (contract H4).
        body_seconds: from the end of the head to the end of the body (contract H4).
        pace_seconds: how often the pace of a body is looked at.
        pace_bytes: what must have come each time; 500 bytes a second, as Apache's mod_reqtimeout wants.
        stop_seconds: for a body that is on its way when the service stops.
        linger_seconds: for reading an answer that came before the request was there.
        write_seconds: for taking some of an answer; as long as nginx waits.
        head_bytes: of request line and headers, as of what is between the pieces of a chunked body (contract H4).
        head_fields: how many headers, since each costs more memory than its bytes.
        pipelined: how many requests may wait for the answer to an earlier one.
    """

    head_seconds: ClassVar[float] = 5
    body_seconds: ClassVar[float] = 15
    pace_seconds: ClassVar[float] = 5
    pace_bytes: ClassVar[int] = 2_500
    stop_seconds: ClassVar[float] = 2
    linger_seconds: ClassVar[float] = 2
    write_seconds: ClassVar[float] = 60
    head_bytes: ClassVar[int] = 32 * 1024
    head_fields: ClassVar[int] = 1_000
    pipelined: ClassVar[int] = 64

    def __init__(
        self,
        config: Config,
        server_state: ServerState,
        app_state: dict[str, Any],
        _loop: asyncio.AbstractEventLoop | None = None,
    ) -> None:
        """Serve one connection; uvicorn makes it."""
        super().__init__(config, server_state, app_state, _loop)
        self._due = inf  # when the client has to have done its part
        self._timer: TimerHandle | None = None  # at most one; it looks at _due when it wakes
        self._stalled: TimerHandle | None = None
        self._deaf = False  # what else the client sends is thrown away
        self._refusal: HttpError | None = None  # to be answered after the earlier requests
        self._head: object = None  # the scope of the head that is unfinished
        self._partial: RequestResponseCycle | None = None  # the request whose body is unfinished
        self._keep_alive = True  # whether its connection may be kept if it gets whole before it is answered
        self._size = 0  # of what has come last
        self._fed = 0  # bytes since the head began, or since a piece of a body
        self._body_bytes = 0
        self._body_bytes_before = 0
        self._body_due = inf

    # What arrives.

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]  # as uvicorn has it
        """Begin to wait for a head."""
        super().connection_made(transport)
        if len(self.connections) > self.most_connections():
            self._make_room()
        self._expect(self.head_seconds)

    def connection_lost(self, exc: Exception | None) -> None:
        """End all waiting."""
        super().connection_lost(exc)
        for timer in (self._timer, self._stalled):
            if timer is not None:
                timer.cancel()

    def data_received(self, data: bytes) -> None:
        """Take what has come; this stands in for uvicorn's method, so that the usual request costs no more."""
        if self._deaf:
            return
        self._size = len(data)
        scope, cycle, body_bytes = self.scope, self.cycle, self._body_bytes
        try:
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                self._decline(data[offer.args[0] :])
        except httptools.HttpParserError as error:
            why = error.__context__
            self._refuse(why if isinstance(why, HttpError) else HttpError(400, "Invalid HTTP request"))
            return
        partial = self._partial
        if partial is not None and not partial.more_body:
            self._whole(partial)
        if self.cycle is None or self.cycle.scope is not self.scope or self.cycle.more_body:
            alike = self.cycle is cycle and self._body_bytes == body_bytes and (partial is None or partial.more_body)
            self._fed = self._fed + self._size if alike else 0
            self._await_the_rest()
        elif self.scope is not scope:  # empty lines alone do not keep a connection
            self._due, self._fed = inf, 0

    def eof_received(self) -> bool:  # type: ignore[override]  # as uvicorn has it
        """Keep the connection of a client that has said everything until it is answered."""
        if self._answering():
            self._deaf, self.cycle.keep_alive = True, False
            return True
        return False

    def on_headers_complete(self) -> None:
        """Let the head pass, or raise what the parser hands to :meth:`data_received`."""
        hosts = 0
        for name, _ in self.headers:
            if name == b"host":
                hosts += 1
        # A head that came in one piece with no more than the limit is seldom worth counting.
        if self._size > self.head_bytes or self._head is self.scope or len(self.headers) > self.head_fields:
            self._count_head()
        if hosts != 1 and (hosts or self.parser.get_http_version() != "1.0"):
            raise HttpError(400, "Exactly one Host header is required")
        if len(self.pipeline) >= self.pipelined:
            raise HttpError(429, "Too many requests without waiting for an answer")
        super().on_headers_complete()
        # Trailers are no headers (RFC 9110 §6.5.1); uvicorn would add them to the scope while the application runs.
        self.headers = []

    def _count_head(self) -> None:
        size = len(self.url) + sum(len(name) + len(value) + 4 for name, value in self.headers)
        if size > self.head_bytes or len(self.headers) > self.head_fields:
            raise self._head_too_large()

    def on_body(self, body: bytes) -> None:
        """Count the bytes of a body."""
        self._body_bytes += len(body)
        super().on_body(body)

    def _should_upgrade(self) -> bool:
        # With this uvicorn holds back every request that offers an upgrade, until _decline brings it again.
        return True

    def _decline(self, rest: bytes) -> None:
        """Take a request that offers an upgrade, such as HTTP/2, for one that does not (RFC 9110 §7.8).

        The parser takes whatever follows such a head for another protocol, or else for another request, even if it is
        the body of this one; Java's client sends its first POST like this.
        """
        while True:
            method, headers = self.scope["method"].encode(), self.scope["headers"]
            if method == b"CONNECT":
                raise httptools.HttpParserError
            version = self.parser.get_http_version().encode()
            fields = (b"%b: %b\r\n" % (name, value) for name, value in headers if name != b"upgrade")
            data = b"".join((method, b" ", self.url, b" HTTP/", version, b"\r\n", *fields, b"\r\n", rest))
            self.parser = httptools.HttpRequestParser(self)
            self.parser.set_dangerous_leniencies(lenient_data_after_close=True)
            try:
                self.parser.feed_data(data)
            except httptools.HttpParserUpgrade as offer:
                rest = data[offer.args[0] :]
            else:
                return

    # What does not arrive.

    def _await_the_rest(self) -> None:
        """Give the client its time for the head or the body that is unfinished."""
        if self._fed > self.head_bytes:
            self._refuse(self._head_too_large())
        elif self.cycle is not None and self.cycle.scope is self.scope:
            if self._partial is not self.cycle:
                self._await_body(self.cycle)
        elif self._head is not self.scope:
            self._head = self.scope
            self._expect(self.head_seconds)

    def _await_body(self, cycle: RequestResponseCycle) -> None:
        self._partial = cycle
        self._body_bytes_before = self._body_bytes
        self._body_due = self.loop.time() + self.body_seconds
        # An answer before the body is there closes the connection: nobody reads an endless body to its end.
        self._keep_alive, cycle.keep_alive = cycle.keep_alive, False
        cycle.transport = _Lingering(self)
        self._expect(min(self.pace_seconds, self.body_seconds))

    def _whole(self, cycle: RequestResponseCycle) -> None:
        self._partial, self._due, self._fed = None, inf, 0
        if not cycle.response_started:  # otherwise the client has been told that the connection closes
            cycle.keep_alive, cycle.transport = self._keep_alive, self.transport

    def _expect(self, seconds: float) -> None:
        """Want something of the client within a time; only the latest wish counts."""
        self._due = self.loop.time() + seconds
        if self._timer is not None and self._timer.when() > self._due:
            self._timer.cancel()
            self._timer = None
        if self._timer is None:
            self._timer = self.loop.call_at(self._due, self._look)

    def _look(self) -> None:
        self._timer = None
        now = self.loop.time()
        if self.transport.is_closing() or self._due == inf:
            return
        if now < self._due:
            self._timer = self.loop.call_at(self._due, self._look)
        elif self._deaf or self._idle():
            self.transport.close()
        elif self._answering():
            self._expect(self.head_seconds)  # a slow answer is not the client's fault
        elif self._partial is not None:
            self._look_at_body(now)
        else:
            self._refuse(HttpError(408, "The head of the request did not arrive in time"))

    def _look_at_body(self, now: float) -> None:
        if self.flow.read_paused:  # nor is an application that does not read
            self._body_due += self.pace_seconds
        elif now >= self._body_due or self._body_bytes - self._body_bytes_before < self.pace_bytes:
            self._refuse(HttpError(408, "The body of the request did not arrive in time"))
            return
        self._body_bytes_before = self._body_bytes
        self._expect(min(self.pace_seconds, self._body_due - now))

    def pause_writing(self) -> None:
        """Wait for a slow reader, but not for one that never reads."""
        super().pause_writing()
        self._stalled = self.loop.call_later(self.write_seconds, self.transport.abort)

    def resume_writing(self) -> None:
        """Write on."""
        super().resume_writing()
        if self._stalled is not None:
            self._stalled.cancel()

    @classmethod
    def most_connections(cls) -> int:
        """Return how many connections there may be; a quarter of the files that may be open is for other things."""
        files = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource else -1
        return files * 3 // 4 if files >= 0 else sys.maxsize  # negative where there is no limit

    def _make_room(self) -> None:
        """Let go of those who have kept the server waiting, rather than keep others out (contract H4)."""
        connections = (one for one in self.connections if isinstance(one, BoundedProtocol) and one is not self)
        waiting = [one for one in connections if not one._answering()]
        # Some at once, because it takes a look at all of them.
        for one in heapq.nsmallest(len(waiting) // 16 + 1, waiting, key=attrgetter("_due")):
            one.transport.abort()

    # What is answered.

    def _start_asgi_task(self, cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
        task = self.loop.create_task(_answer(cycle, app))
        self.tasks.add(task)
        task.add_done_callback(self.tasks.discard)

    def _idle(self) -> bool:
        """Return whether all requests are answered and no other has begun."""
        return self.cycle is not None and self.cycle.response_complete and self.cycle.scope is self.scope

    def _answering(self) -> bool:
        """Return whether the application owes an answer that comes before one that the server gives itself."""
        cycle = self.cycle
        if cycle is None or (cycle.response_complete and not self.pipeline):
            return False
        unfinished_itself = cycle.scope is self.scope and cycle.more_body
        return bool(self.pipeline) or cycle.response_started or not unfinished_itself

    def _head_too_large(self) -> HttpError:
        return HttpError(431, f"The head of the request has more than {self.head_bytes} bytes or too many fields")

    def _refuse(self, refusal: HttpError) -> None:
        """Answer the client in the place of the application, when it is its turn, and listen no longer."""
        self._deaf, self._due = True, inf
        if not self._answering():
            self._answer_with(refusal)
        elif self.cycle.scope is self.scope and self.cycle.more_body and not self.pipeline:
            self.transport.close()  # its answer has begun, so there is no other way to say it
        else:
            self._refusal = refusal

    def _answer_with(self, refusal: HttpError) -> None:
        if self.transport.is_closing():
            return
        log.info("Refused %s with %d: %s", self.client and self.client[0], refusal.status, refusal)
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.disconnected, self.cycle.waiting_for_100_continue = True, False
            self.cycle.message_event.set()
        response = error_response(HttpError(refusal.status, refusal.detail, _CLOSE))
        headers = (*self.server_state.default_headers, *response.raw_headers)
        fields = (b"%b: %b\r\n" % header for header in headers)
        self.transport.write(b"".join((STATUS_LINE[refusal.status], *fields, b"\r\n", response.body)))
        self.linger()

    def on_response_complete(self) -> None:
        """Go on to what is next; this stands in for uvicorn's method, which makes a timer each time."""
        self.server_state.total_requests += 1
        if self.transport.is_closing():
            return
        self.flow.resume_reading()
        if self.pipeline:
            self._start_asgi_task(*self.pipeline.pop())
        elif not self._deaf:
            self._expect(self.timeout_keep_alive)
        if self._refusal is not None and not self._answering():
            self._answer_with(self._refusal)

    def linger(self) -> None:
        """Close, but first give the client time to read the answer while it still sends.

        Bytes that nobody has read when a socket is closed make the other side throw away what it has not read.
        """
        if not self.transport.is_closing():
            self._deaf = True
            self.transport.write_eof()
            self.flow.resume_reading()
            self._expect(self.linger_seconds)

    def shutdown(self) -> None:
        """Finish what is in flight; a body that is not there may take no longer than the rest."""
        self._keep_alive = False
        super().shutdown()
        if self._partial is not None and not self._deaf:
            self._body_due = min(self._body_due, self.loop.time() + self.stop_seconds)
            self._expect(self._body_due - self.loop.time())


class _Lingering(asyncio.Transport):
    """The transport that an answer gets which may be complete before its request is."""

    def __init__(self, protocol: BoundedProtocol) -> None:
        super().__init__()
        self._protocol = protocol

    def write(self, data: bytes | bytearray | memoryview) -> None:
        self._protocol.transport.write(data)

    def is_closing(self) -> bool:
        return self._protocol.transport.is_closing()

    def close(self) -> None:
        self._protocol.linger()


async def _answer(cycle: RequestResponseCycle, app: "ASGI3Application") -> None:
    """Let the application answer; where it fails, in JSON or by breaking off, and in one line of the log."""
    fault: BaseException | None = None
    try:
        await app(cycle.scope, cycle.receive, cycle.send)
    except (Exception, asyncio.CancelledError) as error:
        fault = error
    if fault is not None or not (cycle.response_complete or cycle.disconnected):
        await _fail(cycle, fault)
    cycle.on_response = _nothing  # as uvicorn does, so that cycle and connection do not hold each other


async def _fail(cycle: RequestResponseCycle, fault: BaseException | None) -> None:
    status, why = 500, None
    answer = f"The answer to {cycle.scope['method']} {cycle.scope['path']}"
    if isinstance(fault, asyncio.CancelledError):
        status, why = 503, "The service is stopping"
        log.warning("%s broke off: %s", answer, why)
    elif isinstance(fault, StorageUnavailable):
        log.warning("%s broke off: %s", answer, fault)
    else:
        log.error("%s failed: %s", answer, fault or "it has no end", exc_info=fault)
    if cycle.response_started:
        cycle.transport.close()
    else:
        response = error_response(HttpError(status, why, _CLOSE))
        await response(cycle.scope, cycle.receive, cycle.send)  # type: ignore[arg-type]  # uvicorn types its own


def _nothing() -> None:
    pass

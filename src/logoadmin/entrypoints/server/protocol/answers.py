"""How the application answers a request, and what is answered when it fails (contract A21)."""

import asyncio
import logging
from collections.abc import Awaitable
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.server.protocol.readers import Reader

log = logging.getLogger("logoadmin.http")

CLOSE: Final = {"connection": "close"}


class Output(asyncio.Transport):
    """What the answers of one connection are written to: a head goes out with the first part of its body.

    So a short answer is one packet, and one call of the system instead of two.
    """

    def __init__(self, transport: asyncio.Transport) -> None:
        super().__init__()
        self._transport = transport
        self._comes_head = False
        self._head: bytes | bytearray | memoryview = b""

    def expect_head(self) -> None:
        """Hold back what is written next until its body is written, too."""
        self._comes_head = True

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if self._comes_head:
            self._comes_head, self._head = False, data
        elif self._head:
            head, self._head = self._head, b""
            self._transport.write(b"".join((head, data)))
        else:
            self._transport.write(data)

    def flush(self) -> None:
        """Write a head for which there is no body."""
        if self._head:
            self.write(b"")

    def is_closing(self) -> bool:
        return self._transport.is_closing()

    def close(self) -> None:
        self.flush()
        self._transport.close()


class Answer:
    """Stands before the application for one request: slices its answer, and answers for it if it fails.

    Attributes:
        cycle: what uvicorn keeps of the request; it is there before uvicorn calls this.
    """

    __slots__ = ("_app", "_has_length", "_output", "_reader", "cycle")

    cycle: RequestResponseCycle

    def __init__(self, app: Any, reader: Reader, output: Output) -> None:
        self._app = app
        self._reader = reader
        self._output = output
        self._has_length = True

    async def __call__(self, scope: Any, receive: Any, _send: Any) -> None:
        """Let the application answer; a failure has one line in the log."""
        fault: BaseException | None = None
        try:
            await self._app(scope, receive, self._send)
        except (Exception, asyncio.CancelledError) as error:
            fault = error
        if fault is not None or not (self.cycle.response_complete or self.cycle.disconnected):
            await self._fail(fault)

    def _send(self, message: Any) -> Awaitable[None]:
        cycle = self.cycle
        if message["type"] == "http.response.start":
            if cycle.scope["method"] != "HEAD":
                self._output.expect_head()
            return cycle.send(message if cycle.keep_alive else self._start(message))
        return self._reader.pass_on(cycle.send if self._has_length else self._send_without_length, message)

    def _send_without_length(self, message: Any) -> Awaitable[None]:
        # Each part is declared to be all that is expected.
        self.cycle.expected_content_length = len(message.get("body", b""))
        return self.cycle.send(message)

    def _start(self, message: Any) -> Any:
        """Return the head of an answer that closes the connection; not every version of uvicorn says that it does.

        An answer without a length to HTTP/1.0, which knows no chunks, ends with the connection (RFC 9112 §6.1). uvicorn
        would send it in chunks, but leaves that to whoever has settled how long the answer is.
        """
        headers = [header for header in message.get("headers", ()) if header[0].lower() != b"connection"]
        if self.cycle.scope["http_version"] == "1.0" and all(name.lower() != b"content-length" for name, _ in headers):
            self._has_length = self.cycle.chunked_encoding = False
        return {**message, "headers": [*headers, (b"connection", b"close")]}

    async def _fail(self, fault: BaseException | None) -> None:
        """Say in the log what happened, and answer with an error, or break off an answer that has begun."""
        status, why = 500, None
        answer = f"The answer to {self.cycle.scope['method']} {self.cycle.scope['path']}"
        if isinstance(fault, asyncio.CancelledError):
            status, why = 503, "The service is stopping"
            log.warning("%s broke off: %s", answer, why)
        elif isinstance(fault, StorageUnavailable):
            log.warning("%s broke off: %s (%s)", answer, fault, fault.cause.code)
        elif isinstance(fault, LogoAdminError):
            log.warning("%s broke off: %s", answer, fault)
        else:
            log.error("%s failed: %s", answer, fault or "it has no end", exc_info=fault)
        if self.cycle.response_started:
            self.cycle.disconnected = True  # or else uvicorn logs it, too
            self.cycle.transport.close()
        else:
            await self._send_error(HttpError(status, why, CLOSE))

    async def _send_error(self, error: HttpError) -> None:
        response: Any = error_response(error)
        await response(self.cycle.scope, self.cycle.receive, self.cycle.send)

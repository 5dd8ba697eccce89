"""How the application answers a request, and what is answered when it fails (contract A21)."""

import asyncio
import logging
from typing import Any, Final

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.server.protocol.readers import Reader

log = logging.getLogger("logoadmin.http")

CLOSE: Final = {"connection": "close"}


class Answer:
    """Stands before the application for one request: slices its answer, and answers for it if it fails.

    Attributes:
        cycle: what uvicorn keeps of the request; it is there before uvicorn calls this.
    """

    __slots__ = ("_app", "_has_length", "_reader", "cycle")

    cycle: RequestResponseCycle

    def __init__(self, app: Any, reader: Reader) -> None:
        self._app = app
        self._reader = reader
        self._has_length = True

    async def __call__(self, scope: Any, receive: Any, _send: Any) -> None:
        """Let the application answer; a failure has one line in the log."""
        fault: BaseException | None = None
        try:
            await self._app(scope, receive, self._reader.in_slices(self._send))
        except (Exception, asyncio.CancelledError) as error:
            fault = error
        if fault is not None or not (self.cycle.response_complete or self.cycle.disconnected):
            await self._fail(fault)

    async def _send(self, message: Any) -> None:
        if message["type"] == "http.response.start":
            message = self._start(message)
        elif not self._has_length:  # each part is declared to be all that is expected
            self.cycle.expected_content_length = len(message.get("body", b""))
        await self.cycle.send(message)

    def _start(self, message: Any) -> Any:
        """Return the head as it is sent; that the connection closes, not every version of uvicorn says.

        An answer without a length to HTTP/1.0, which knows no chunks, ends with the connection (RFC 9112 §6.1). uvicorn
        would send it in chunks, but leaves that to whoever has settled how long the answer is.
        """
        if self.cycle.keep_alive:
            return message
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

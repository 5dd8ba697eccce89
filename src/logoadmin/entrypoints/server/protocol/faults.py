"""Applications that fail: each gets an answer in JSON, or is broken off, and has one line in the log (contract A21)."""

import asyncio
import logging
from typing import TYPE_CHECKING, Final

from uvicorn.protocols.http.httptools_impl import RequestResponseCycle

from logoadmin.domain.model.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.server.protocol.old_clients import UntilClose
from logoadmin.entrypoints.server.protocol.readers import Reader

if TYPE_CHECKING:
    from uvicorn._types import ASGI3Application

log = logging.getLogger("logoadmin.http")

CLOSE: Final = {"connection": "close"}


async def answered(cycle: RequestResponseCycle, app: "ASGI3Application", reader: Reader) -> None:
    """Let the application answer a request, in slices for who reads it, or answer for it."""
    fault: BaseException | None = None
    try:
        send = UntilClose(cycle) if cycle.scope["http_version"] == "1.0" else cycle.send
        await app(cycle.scope, cycle.receive, reader.in_slices(send))
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
        log.warning("%s broke off: %s (%s)", answer, fault, fault.cause.code)
    elif isinstance(fault, LogoAdminError):
        log.warning("%s broke off: %s", answer, fault)
    else:
        log.error("%s failed: %s", answer, fault or "it has no end", exc_info=fault)
    if cycle.response_started:
        cycle.transport.close()
    else:
        response = error_response(HttpError(status, why, CLOSE))
        await response(cycle.scope, cycle.receive, cycle.send)  # type: ignore[arg-type]  # uvicorn types its own


def _nothing() -> None:
    pass

"""The log line of each request, and the responses where the application fails (contract A21, E1, K3)."""

import asyncio
import logging
import re
import time
from collections.abc import Awaitable
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.model.access import SignedIn
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.entrypoints.http_api.errors import HttpError, error_response, note_cause
from logoadmin.entrypoints.http_api.health import is_health_check
from logoadmin.entrypoints.http_api.request import request_of
from logoadmin.entrypoints.server.logs import FIELDS

log = logging.getLogger("logoadmin.http")

_ACCESS: Final = logging.getLogger("logoadmin.access")
# A trace as W3C Trace Context has it; ids of zeros alone are none.
_TRACE: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.ASCII
)


class LoggedRequests:
    """Logs the requests to an application, and responds where it raises an error.

    A line has method, path, status, milliseconds, client and id; query and headers may hold secrets. After the status
    comes what was the matter with the database, as a code. As JSON there is more. A response that has begun when the
    application fails is broken off.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        answer: Message = {}

        def send_and_note(message: Message) -> Awaitable[None]:
            nonlocal answer
            answer = answer or message
            return send(message)

        start = time.perf_counter()
        try:
            refusal = await self._refusal(scope, receive, send_and_note)
            if refusal is not None and not answer:
                await error_response(refusal)(scope, receive, send_and_note)
            # Else the server closes the connection, because the response has no end.
        finally:
            if _ACCESS.isEnabledFor(logging.INFO):
                _log_request(scope, answer, (time.perf_counter() - start) * 1000)

    async def _refusal(self, scope: Scope, receive: Receive, send: Send) -> HttpError | None:
        """Run the application; return the response to send in its place if it fails."""
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            log.warning("%s %s was cancelled: the service is stopping", scope["method"], scope["path"])
            return HttpError(503, "The service is stopping", {"connection": "close"})
        except HttpError as error:
            return error
        except Exception as error:
            note_cause(request_of(scope), error)
            _log_failure(scope, error)
            return HttpError(500, headers={"connection": "close"})
        return None


def _log_failure(scope: Scope, error: Exception) -> None:
    request = scope["method"], scope["path"]
    if isinstance(error, LogoAdminError | ClientDisconnect):
        level = logging.INFO if isinstance(error, ClientDisconnect) else logging.WARNING
        code = "".join(f" ({cause.code})" for cause in [getattr(error, "cause", None)] if cause)
        log.log(level, "The response to %s %s broke off: %s%s", *request, error, code)
    else:
        log.error("The response to %s %s failed: %s", *request, error, exc_info=error)


def _log_request(scope: Scope, answer: Message, ms: float) -> None:
    """Log a request that was answered, or was not."""
    request = request_of(scope)
    trace = _TRACE.fullmatch(request.header(b"traceparent"))
    fields = {
        # By the answer: an id that stands in the history already was replaced by another one.
        "request_id": next(
            (value.decode() for name, value in answer.get("headers", ()) if name == b"x-request-id"), None
        ),
        "client": request.client or None,
        "user_id": request.caller.user_id if isinstance(request.caller, SignedIn) else None,
        "method": scope["method"],
        "route": request.operation.path if request.operation else None,
        "status": answer.get("status"),
        "ms": round(ms, 1),
        "cause": next(iter(request.causes), None),
        "trace_id": trace[1] if trace else None,
    }
    outcome = " ".join([str(fields["status"] or "unanswered"), *request.causes])
    told = scope["method"], scope["path"], outcome, ms, fields["client"] or "-", fields["request_id"] or "-"
    level = logging.DEBUG if is_health_check(scope) else logging.INFO
    _ACCESS.log(level, "%s %s %s %.1f ms %s %s", *told, extra={FIELDS: fields})

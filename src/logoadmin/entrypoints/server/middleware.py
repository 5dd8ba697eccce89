"""Middleware of the server: trusted proxies and logging (contract A21, C1, E1, H5, K3)."""

import asyncio
import json
import logging
import re
import time
from collections.abc import Awaitable, Collection
from datetime import UTC, datetime
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network
from typing import Final

from starlette.requests import ClientDisconnect
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.kernel.access import SignedIn, address_of
from logoadmin.domain.kernel.errors import LogoAdminError, StorageUnavailable
from logoadmin.entrypoints.http_api.errors import error_response, note_cause
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.origins import without_port
from logoadmin.entrypoints.http_api.request import is_health_check, request_of
from logoadmin.text_files import on_one_line


class BehindProxies:
    """Sets the client address and the scheme of requests from trusted proxies, as forwarded by these.

    uvicorn's middleware accepts any text in ``X-Forwarded-For`` as an address, and does not recognize a proxy that
    connects over IPv4 to an IPv6 socket.
    """

    def __init__(self, app: ASGIApp, trusted: Collection[IPv4Network | IPv6Network]) -> None:
        self._app = app
        self._trusted = trusted

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = _address(scope["client"][0]) if scope.get("client") else None
        if peer is not None and self._trusts(peer):
            # A copy, because the server still uses its own.
            scope = {**scope, "scheme": _scheme(scope)}
            client = self._client(peer, _values(scope, b"x-forwarded-for"))
            if client is not peer:
                scope["client"] = (str(client), 0)
        await self._app(scope, receive, send)

    def _client(self, peer: IPv4Address | IPv6Address, forwarded: list[str]) -> IPv4Address | IPv6Address:
        """Return the right-most address that does not belong to a trusted proxy.

        Each proxy appends the address of its client. Anyone may have sent the text to the left of the client's
        address, or to the left of a text that is not an address.
        """
        client = peer
        for text in reversed(forwarded):
            before = _address(text) if self._trusts(client) else None
            if before is None:
                break
            client = before
        return client

    def _trusts(self, address: IPv4Address | IPv6Address) -> bool:
        return any(address in network for network in self._trusted)


def _scheme(scope: Scope) -> str:
    named = _values(scope, b"x-forwarded-proto")
    return named[-1] if named and named[-1] in ("http", "https") else str(scope["scheme"])


def _values(scope: Scope, name: bytes) -> list[str]:
    """Return the elements of all headers with a name, in order."""
    found = b",".join(value for key, value in scope["headers"] if key == name)
    return [value.strip() for value in found.decode("latin-1").split(",")] if found else []


def _address(text: str) -> IPv4Address | IPv6Address | None:
    try:
        # A zone, after %, may be any text, and is meaningless elsewhere.
        return address_of(without_port(text).partition("%")[0])
    except ValueError:
        return None


_HTTP: Final = logging.getLogger("logoadmin.http")
_ACCESS: Final = logging.getLogger("logoadmin.access")
# A traceparent (W3C Trace Context); ids with only zeros are invalid.
_TRACE: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}(-.*)?", re.ASCII
)

_MAX_HOST: Final = 255  # characters; longer texts are not host names
# Attribute of a log record with the request's extra fields.
_FIELDS: Final = "logoadmin_request"


def configure_logging(level: str, form: str = "text") -> None:
    """Log to standard error as ``text`` or ``json``: this program and uvicorn from ``level`` on, others warnings."""
    handler = logging.StreamHandler()
    handler.setFormatter(JsonFormatter() if form == "json" else LineFormatter())
    chosen = logging.getLevelNamesMapping()[level.upper()]
    logging.basicConfig(handlers=[handler], level=max(chosen, logging.WARNING), force=True)
    logging.getLogger("logoadmin").setLevel(chosen)
    logging.getLogger("uvicorn").setLevel(chosen)


class LineFormatter(logging.Formatter):
    """Formats each record as one line, including a traceback.

    Otherwise, control characters in a path could forge lines or control the reader's terminal (uvicorn CVE-2020-7694).
    """

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: time, level, process, logger and message."""
        message = super().format(record)
        return on_one_line(f"{_time(record)} {record.levelname} {record.process} {record.name}: {message}")


class JsonFormatter(logging.Formatter):
    """Formats each record as one JSON object in ASCII, which can neither end the line nor control a terminal."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line: ``time``, ``level``, ``process``, ``logger``, ``message``, and the fields of a request."""
        line = {
            "time": _time(record),
            "level": record.levelname,
            "process": record.process,
            "logger": record.name,
            "message": record.getMessage(),
            **getattr(record, _FIELDS, {}),
        }
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return json.dumps(line)


def _time(record: logging.LogRecord) -> str:
    return datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")


class LoggedRequests:
    """Logs the requests to an application, and responds if it raises an error.

    A line has method, path, status, milliseconds, client and id, but neither query nor headers, which may hold secrets.
    The status is followed by the code of a database failure. JSON has more fields. If the application fails after the
    response has begun, the connection is closed.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
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
            # Otherwise the server closes the connection, because the response is incomplete.
        finally:
            if _ACCESS.isEnabledFor(logging.INFO):
                _log_request(scope, answer, (time.perf_counter() - start) * 1000)

    async def _refusal(self, scope: Scope, receive: Receive, send: Send) -> HttpError | None:
        """Run the application; return the response to send in its place if it fails or the request is not valid."""
        hosts = len(request_of(scope).headers.get(b"host", ()))
        if hosts > 1 or (not hosts and scope["http_version"] != "1.0"):
            return HttpError(400, "The request should have one Host header", {"connection": "close"})  # RFC 9112 §3.2
        try:
            await self._app(scope, receive, send)
        except asyncio.CancelledError:
            _HTTP.warning("%s %s was cancelled: the service is stopping", scope["method"], scope["path"])
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
        why: object = error
        if isinstance(error, StorageUnavailable):
            why = f"{error.server}: {error.cause.text} ({error.cause.code})"
        _HTTP.log(level, "The response to %s %s broke off: %s", *request, why)
    else:
        _HTTP.error("The response to %s %s failed: %s", *request, error, exc_info=error)


def _log_request(scope: Scope, answer: Message, ms: float) -> None:
    request = request_of(scope)
    trace = _TRACE.fullmatch(request.header(b"traceparent"))
    fields = {
        # From the response, since an id that the history already had was replaced.
        "request_id": next(
            (value.decode() for name, value in answer.get("headers", ()) if name == b"x-request-id"), None
        ),
        "client": request.client or None,
        "user_id": request.caller.user_id if isinstance(request.caller, SignedIn) else None,
        "scheme": scope["scheme"],
        "host": request.header(b"host")[:_MAX_HOST] or None,
        "method": scope["method"],
        "route": request.operation.path if request.operation else None,
        "status": answer.get("status"),
        "ms": round(ms, 1),
        "cause": next(iter(request.causes), None),
        "trace_id": trace[1] if trace else None,
    }
    outcome = " ".join([str(fields["status"] or "unanswered"), *request.causes])
    where = f"{fields['scheme']}://{fields['host'] or '-'}"
    values = scope["method"], scope["path"], outcome, ms, fields["client"] or "-", fields["request_id"] or "-", where
    level = logging.DEBUG if is_health_check(scope) else logging.INFO
    _ACCESS.log(level, "%s %s %s %.1f ms %s %s %s", *values, extra={_FIELDS: fields})

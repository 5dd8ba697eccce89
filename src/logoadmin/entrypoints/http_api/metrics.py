"""Counts requests, and renders the metrics for programs that embed a gallery (contract K2)."""

import time
from collections.abc import Awaitable
from typing import Final

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.errors import LogoAdminError
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.request_state import state_of
from logoadmin.ports.metrics import Metrics

OTHER: Final = "other"
# Any other status, such as that of a client that went away, is counted as other.
STATUSES: Final = {
    status: str(status)
    for status in (
        *(200, 201, 204, 206, 304, 307, 400, 401, 403, 404, 405, 408, 409, 412, 413, 415, 416, 421, 422, 428, 429, 431),
        *(500, 503),
    )
}


def count_response(
    metrics: Metrics, operation: Operation | None, status: int, size: int, seconds: float, *, from_cache: bool = False
) -> None:
    """Count a response; its labels are from fixed sets."""
    name = OTHER if operation is None else operation.name
    metrics.response(name, STATUSES.get(status, OTHER), size, seconds, from_cache=from_cache)


class Measured:
    """Counts the requests to an application, each once its response has ended."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        """Wrap an application that puts the operation of a request into its scope."""
        self._app = app
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request on, and count it with its status and its time when it has ended."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        status = sent = 0

        # These avoid additional coroutines, since they are called for every message.
        def counted(message: Message) -> Awaitable[None]:
            nonlocal status, sent
            if message["type"] == "http.response.start":
                status = message["status"]
            else:
                sent += len(message.get("body", b""))
            return send(message)

        if scope["method"] not in ("GET", "HEAD"):
            receive = self._counting(receive)
        self._metrics.request_started()
        began = state_of(scope).began or time.perf_counter()
        try:
            await self._app(scope, receive, counted)
        except Exception:
            status = status or 500
            raise
        finally:
            self._metrics.request_ended()
            count_response(self._metrics, state_of(scope).operation, status, sent, time.perf_counter() - began)

    def _counting(self, receive: Receive) -> Receive:
        async def counted() -> Message:
            message = await receive()
            self._metrics.request_body(len(message.get("body", b"")))
            return message

        return counted


def metrics(gallery: LogoAdmin) -> str:
    """Return the metrics of a gallery in the text format of Prometheus (contract K2).

    Raises:
        StartError: nothing is counted, because prometheus-client is not installed.
    """
    try:
        last_change = gallery.changes.version()
    except LogoAdminError:  # the failure is counted and logged
        last_change = None
    return gallery.metrics.text(last_change, gallery.product)

"""Health checks for service managers and load balancers (contract K1).

Both paths are public, accept any host name (contract A22), and return nothing secret.
"""

import asyncio
import json
import logging
from collections.abc import Mapping
from typing import Final

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from logoadmin.domain.kernel.errors import SchemaMismatch, StorageUnavailable, TablesMissing
from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.documents import ReadOnlyEndpoint
from logoadmin.entrypoints.http_api.errors import RETRY_AFTER, detail_response, note_cause
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import request_of

log = logging.getLogger("logoadmin.http")

# The key in the request state by which a stopping server has new requests sent elsewhere (contract K5).
STOPPING: Final = "logoadmin.stopping"

_PATHS: Final = ("/livez", "/readyz")
_STOPPING: Final = "The service is stopping"


def health_routes(readiness: "Readiness") -> list[Route]:
    """Return the routes of both checks."""
    live, ready = _PATHS
    return [Route(live, Liveness()), Route(ready, readiness)]


def is_health_check(scope: Scope) -> bool:
    """Return whether a request is a health check."""
    return scope["path"].removeprefix(scope.get("root_path", "")) in _PATHS


class Liveness(ReadOnlyEndpoint):
    """Succeeds while the process responds; does not query the database."""

    def response(self, scope: Scope) -> Response:  # noqa: ARG002 (the response is always the same)
        """Return 200: a process that can respond is alive."""
        return _well()


class Readiness(ReadOnlyEndpoint):
    """Succeeds while the database responds, its tables fit, and the service is not stopping."""

    def __init__(self, gallery: LogoAdmin, dispatch: Dispatch, *, timeout: float = 0.9, valid: float = 1.0) -> None:
        """Check the database of a gallery.

        Args:
            gallery: the gallery.
            dispatch: calls it in threads.
            timeout: the seconds for a check, fewer than those in which ``readyz`` responds (contract K1).
            valid: the seconds for which its result is valid.
        """
        self._gallery, self._dispatch = gallery, dispatch
        self._timeout, self._valid = timeout, valid
        self._fault: StorageUnavailable | SchemaMismatch | None = None
        self._fresh_until = 0.0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request; check the database again if the last check has expired."""
        if scope["method"] in ("GET", "HEAD") and not _is_stopping(scope):
            await self._look()
        await super().__call__(scope, receive, send)

    def response(self, scope: Scope) -> Response:
        """Return 200, or 503 if the last check failed or the service is stopping."""
        if _is_stopping(scope):
            return detail_response(503, _STOPPING)
        if self._fault is None:
            return _well()
        note_cause(request_of(scope), self._fault)
        return _unwell(self._fault)

    async def _look(self) -> None:
        loop = asyncio.get_running_loop()
        if loop.time() < self._fresh_until:
            return
        try:
            await self._dispatch.reading_once(self, self._gallery.check, loop.time() + self._timeout)
        except TablesMissing as error:  # this process had opened them
            self._found(TablesMissing(error.file, existed=True))
        except (StorageUnavailable, SchemaMismatch) as error:
            self._found(error)
        else:
            self._found(None)
        self._fresh_until = loop.time() + self._valid

    def _found(self, fault: StorageUnavailable | SchemaMismatch | None) -> None:
        """Record the result of a check; storage itself logs why it is unavailable."""
        before, self._fault = self._fault, fault
        if isinstance(fault, SchemaMismatch) and not isinstance(before, SchemaMismatch):
            log.error("%s (%s)", fault, fault.cause.code)
        elif fault is None and isinstance(before, SchemaMismatch):
            log.warning("The tables fit this program again: %s is over", before.cause.code)


def _is_stopping(scope: Scope) -> bool:
    return bool(scope.get("state", {}).get(STOPPING))


def _well() -> Response:
    return _json_response(200, {"status": "ok"})


def _unwell(fault: StorageUnavailable | SchemaMismatch) -> Response:
    """Return the failure and its remedy, without secrets, and its code (contract K1)."""
    return _json_response(503, {"detail": fault.explained, "code": fault.cause.code}, {"retry-after": str(RETRY_AFTER)})


def _json_response(status: int, body: Mapping[str, str], headers: Mapping[str, str] | None = None) -> Response:
    return Response(json.dumps(body).encode(), status, {"cache-control": "no-store", **(headers or {})}, JSON)

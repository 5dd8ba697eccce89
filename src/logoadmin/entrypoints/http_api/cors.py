"""Which pages of other origins may read answers: Cross-Origin Resource Cors (contract F2)."""

from collections.abc import Mapping
from typing import Final

from starlette.requests import Request
from starlette.responses import Response

from logoadmin.entrypoints.http_api.operations import Operation

_EXPOSED: Final = "ETag, Link, Retry-After, X-Request-Id"
_TAKEN: Final = "Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id"
_KEPT: Final = "600"  # seconds


class Cors:
    """Lets pages of every origin read what is public, and those of chosen origins use everything."""

    def __init__(self, origins: frozenset[str]) -> None:
        """Choose origins, each as browsers write it: scheme, host and, if it is not the usual one, port."""
        self._origins = origins

    def share(self, response: Response, request: Request, operation: Operation | None) -> None:
        """Say in a response who may read it."""
        if operation is not None and operation.is_public_read:
            response.headers["access-control-allow-origin"] = "*"
            response.headers["access-control-expose-headers"] = _EXPOSED
        elif self._origins:
            response.headers["vary"] = "Origin"
            origin = request.headers.get("origin")
            if origin in self._origins:
                response.headers["access-control-allow-origin"] = origin
                response.headers["access-control-expose-headers"] = _EXPOSED

    def preflight(self, request: Request, operations: Mapping[str, Operation]) -> Response | None:
        """Return the answer to a browser that asks what a page may do; None where it may nothing."""
        wanted = request.headers.get("access-control-request-method")
        if request.method != "OPTIONS" or wanted is None or "origin" not in request.headers:
            return None
        operation = operations.get(wanted)
        everybody = operation is not None and operation.is_public_read
        chosen = request.headers["origin"] in self._origins
        if not everybody and not chosen:
            return None
        # Browsers keep every method that they are told of: strangers must not learn of one that changes something.
        told = [method for method, known in operations.items() if chosen or known.is_public_read]
        headers = {
            "access-control-allow-methods": ", ".join(sorted(told)),
            "access-control-allow-headers": _TAKEN,
            "access-control-max-age": _KEPT,
            "cache-control": "no-store",
        }
        if everybody:
            headers["access-control-allow-origin"] = "*"
        return Response(status_code=204, headers=headers)

"""Cross-Origin Resource Sharing: which pages of other origins may read responses (contract F2)."""

from collections.abc import Mapping
from typing import Final

from logoadmin.entrypoints.http_api.conditions import Fields
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.request import Request
from logoadmin.entrypoints.http_api.responses import RenderedResponse

_VARY: Final = (b"vary", b"Origin")
_ANY_ORIGIN: Final = (b"access-control-allow-origin", b"*")
_EXPOSED: Final = (b"access-control-expose-headers", b"ETag, Idempotency-Replayed, Link, Retry-After, X-Request-Id")
_FOR_EVERYBODY: Final = [_ANY_ORIGIN, _EXPOSED]
_TAKEN: Final = b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Request-Id"
_PREFLIGHT: Final = [
    (b"access-control-allow-headers", _TAKEN),
    (b"access-control-max-age", b"600"),  # seconds
    (b"cache-control", b"no-store"),
]


class Cors:
    """Allows pages of any origin to make public reads, and pages of allowed origins to call every operation."""

    def __init__(self, origins: frozenset[str]) -> None:
        """Allow origins, each as browsers write it: scheme, host and, if not the default, port."""
        self._origins = origins

    def fields(self, request: Request, operation: Operation | None) -> Fields:
        """Return the header fields that allow pages to read a response."""
        if operation is not None and operation.is_public_read:
            return _FOR_EVERYBODY
        if not self._origins:
            return []
        origin = request.header(b"origin")
        if origin not in self._origins:
            return [_VARY]
        return [_VARY, (b"access-control-allow-origin", origin.encode("latin-1")), _EXPOSED]

    def preflight(self, request: Request, operations: Mapping[str, Operation]) -> RenderedResponse | None:
        """Return the response to a preflight request; None if nothing is allowed."""
        wanted, origin = request.header(b"access-control-request-method"), request.header(b"origin")
        if request.method != "OPTIONS" or not wanted or b"origin" not in request.headers:
            return None
        operation = operations.get(wanted)
        everybody = operation is not None and operation.is_public_read
        chosen = origin in self._origins
        if not everybody and not chosen:
            return None
        # Browsers cache the allowed methods, so other origins only get the methods of public reads.
        told = [method for method, known in operations.items() if chosen or known.is_public_read]
        methods = (b"access-control-allow-methods", ", ".join(sorted(told)).encode())
        return RenderedResponse(204, [methods, *_PREFLIGHT, *([_ANY_ORIGIN] if everybody and not chosen else [])])

"""Cross-Origin Resource Sharing: which pages of other origins may read responses (contract F2)."""

from collections.abc import Mapping
from typing import Final

from starlette.types import Scope

from logoadmin.entrypoints.http_api.conditions import Fields, header_values
from logoadmin.entrypoints.http_api.operation import Operation
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

    def fields(self, scope: Scope, operation: Operation | None) -> Fields:
        """Return the header fields that allow pages to read a response."""
        if operation is not None and operation.is_public_read:
            return _FOR_EVERYBODY
        if not self._origins:
            return []
        origin = _first(scope, b"origin")
        if origin not in self._origins:
            return [_VARY]
        return [_VARY, (b"access-control-allow-origin", origin.encode("latin-1")), _EXPOSED]

    def preflight(self, scope: Scope, operations: Mapping[str, Operation]) -> RenderedResponse | None:
        """Return the response to a preflight request; None if nothing is allowed."""
        wanted, origin = _first(scope, b"access-control-request-method"), _first(scope, b"origin")
        if scope["method"] != "OPTIONS" or wanted is None or origin is None:
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


def _first(scope: Scope, name: bytes) -> str | None:
    return next(iter(header_values(scope, name)), None)

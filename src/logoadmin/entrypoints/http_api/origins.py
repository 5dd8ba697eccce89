"""Access from other sites: CORS, and the check of host names against DNS rebinding (contract A22, F2)."""

import re
from collections.abc import Collection, Mapping
from contextlib import suppress
from functools import lru_cache
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from logoadmin.domain.kernel.access import address_of, is_loopback
from logoadmin.entrypoints.http_api.errors import error_response
from logoadmin.entrypoints.http_api.http_error import HttpError
from logoadmin.entrypoints.http_api.operation import Operation
from logoadmin.entrypoints.http_api.request import Request, is_health_check, request_of
from logoadmin.entrypoints.http_api.response import Fields, Response

# A name or an address, and a port (RFC 9110 §7.2).
_HOST: Final = re.compile(r"(?:\[[^\]@]*\]|[^:@\[\]]*)(?::[0-9]*)?")
_VARY: Final = (b"vary", b"Origin")
_ANY_ORIGIN: Final = (b"access-control-allow-origin", b"*")
# In addition to headers that are always readable; the last one requests a recent sign-in (contract O3).
_EXPOSED: Final = (
    b"access-control-expose-headers",
    b"ETag, Idempotency-Replayed, Link, Retry-After, X-Request-Id, WWW-Authenticate",
)
_FOR_EVERYBODY: Final = [_ANY_ORIGIN, _EXPOSED]
_ALLOWED: Final = (
    b"Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, X-Change-Note, X-Request-Id, "
    b"X-Requested-With"
)
_PREFLIGHT: Final = [
    (b"access-control-allow-headers", _ALLOWED),
    (b"access-control-max-age", b"600"),  # seconds
    (b"cache-control", b"no-store"),
]
# The number of recent names whose result is cached.
_CACHE_SIZE: Final = 32


class Cors:
    """Allows pages of any origin to make public reads, and pages of allowed origins to call all operations."""

    def __init__(self, origins: frozenset[str]) -> None:
        """Allow origins, written as in browsers: scheme, host and, if not the default, port."""
        self._origins = origins

    def fields(self, request: Request, operation: Operation | None) -> Fields:
        """Return the CORS header fields of the response to a request."""
        if operation is not None and operation.is_public_read:
            return _FOR_EVERYBODY
        if not self._origins:
            return []
        origin = request.header(b"origin")
        if origin not in self._origins:
            return [_VARY]
        return [_VARY, (b"access-control-allow-origin", origin.encode("latin-1")), _EXPOSED]

    def preflight(self, request: Request, operations: Mapping[str, Operation]) -> Response | None:
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
        allowed = [method for method, known in operations.items() if chosen or known.is_public_read]
        methods = (b"access-control-allow-methods", ", ".join(sorted(allowed)).encode())
        return Response(204, [methods, *_PREFLIGHT, *([_ANY_ORIGIN] if everybody and not chosen else [])])


class Hosts:
    """Rejects requests for other host names.

    Another site may resolve its own name to this machine (DNS rebinding). The browser then treats this service as part
    of that site, so its pages may send and read anything; only ``Host`` reveals it.
    """

    def __init__(self, app: ASGIApp, names: Collection[str], refuse: ASGIApp, *, any_address: bool = False) -> None:
        """Serve an application under ``names``, where ``*`` is any name, and always under the loopback names.

        Other requests go to ``refuse``, such as :func:`misdirected`. With ``any_address``, any IP address is accepted
        as well, since no page can make an address resolve elsewhere.
        """
        self._app, self._refuse, self._any_address = app, refuse, any_address
        self._names = frozenset(map(_name_of, names))
        # Nearly all requests have the same name, and parsing an address can take longer than the response.
        self._is_known = lru_cache(_CACHE_SIZE)(self._is_name)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass on requests for an accepted name; reject others."""
        is_passed_on = scope["type"] != "http" or "*" in self._names or self._is_ours(scope)
        await (self._app if is_passed_on else self._refuse)(scope, receive, send)

    def _is_ours(self, scope: Scope) -> bool:
        """Return whether a request is for this service; requests without ``Host`` do not come from browsers."""
        names = request_of(scope).headers.get(b"host", ())
        # Health checks may not know the name of the service.
        return all(map(self._is_known, names)) or is_health_check(scope)

    def _is_name(self, host: str) -> bool:
        if _HOST.fullmatch(host) is None:
            return False
        name = _name_of(host)
        return name in self._names or is_loopback(name) or (self._any_address and _is_address(name))


async def misdirected(scope: Scope, receive: Receive, send: Send) -> None:
    """Respond to a request for another name."""
    refusal = HttpError(421, "Host is not a name of this service: see the setting hosts")
    await error_response(refusal)(scope, receive, send)


def without_port(host: str) -> str:
    """Return the name or address in ``a``, ``a:80``, ``192.0.2.1:80``, ``2001:db8::1`` or ``[2001:db8::1]:80``."""
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0] if host.count(":") == 1 else host


def _is_address(name: str) -> bool:
    try:
        address_of(name)
    except ValueError:
        return False
    return True


def _name_of(host: str) -> str:
    name = without_port(host).lower().removesuffix(".")
    if ":" in name:  # IPv6 addresses can be written in several ways
        with suppress(ValueError):
            return str(address_of(name))
    return name

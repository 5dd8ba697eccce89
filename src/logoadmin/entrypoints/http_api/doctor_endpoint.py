"""Shows ``logoadmin doctor`` how its requests arrive through a proxy (contract K4).

Doctor proves that it holds the keys of the service, by an HMAC of the time, which is good for a minute and for nothing
else.
"""

import hashlib
import hmac
import json
import time
from collections.abc import Sequence
from typing import Final

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.http_api.documents import ReadOnlyEndpoint
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.operation import JSON
from logoadmin.entrypoints.http_api.request import request_of

_PATH: Final = "/doctor"
_SCHEME: Final = "Doctor"
_SECONDS: Final = 60


def doctor_route(gallery: LogoAdmin) -> Route:
    """Return the route, which is not in the OpenAPI document: it responds with 404 unless a proof is sent."""
    return Route(_PATH, DoctorEndpoint(gallery))


class DoctorEndpoint(ReadOnlyEndpoint):
    """Returns client, scheme, host and prefix as the service sees them, and the fields that proxies added."""

    def __init__(self, gallery: LogoAdmin) -> None:
        """Accept proofs made with the keys of a gallery."""
        self._keys = gallery.doctor_keys

    def response(self, scope: Scope) -> Response:
        """Return the view of the request, or 404."""
        if not any(is_proof(sent, self._keys, time.time()) for sent in _values(scope, b"authorization")):
            return error_response(HttpError(404))
        client = scope.get("client")
        body = {
            "client": client[0] if client else None,
            "scheme": scope["scheme"],
            "host": [*_values(scope, b"host")],
            "root_path": scope.get("root_path", ""),
            "forwarded_for": _members(scope, b"x-forwarded-for"),
            "forwarded_proto": _members(scope, b"x-forwarded-proto"),
        }
        return Response(json.dumps(body).encode(), 200, {"cache-control": "no-store"}, JSON)


def _values(scope: Scope, name: bytes) -> Sequence[str]:
    return request_of(scope).headers.get(name, ())


def _members(scope: Scope, name: bytes) -> list[str]:
    return [member.strip() for value in _values(scope, name) for member in value.split(",") if member.strip()]


def proof(keys: Sequence[bytes], now: int) -> str:
    """Return the value of ``Authorization`` that proves possession of the keys."""
    return " ".join([_SCHEME, str(now), *(_mac(key, str(now)) for key in keys)])


def is_proof(sent: str, keys: Sequence[bytes], now: float) -> bool:
    """Whether somebody who holds one of the keys made this value within the last minute."""
    scheme, _, rest = sent.partition(" ")
    at, *macs = rest.split(" ")
    if scheme != _SCHEME or not (at.isascii() and at.isdecimal() and len(at) <= 12):
        return False
    genuine = any(hmac.compare_digest(_mac(key, at).encode(), mac.encode()) for key in keys for mac in macs[:8])
    return genuine and abs(now - int(at)) <= _SECONDS


def _mac(key: bytes, at: str) -> str:
    return hmac.new(key, f"logoadmin doctor {at}".encode(), hashlib.sha256).hexdigest()

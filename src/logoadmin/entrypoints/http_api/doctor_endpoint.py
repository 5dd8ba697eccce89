"""Shows ``logoadmin doctor`` what arrives of a request that it sends through a proxy (contract K4)."""

import json
import time
from typing import Final

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.entrypoints.doctor_proof import is_proof
from logoadmin.entrypoints.http_api.api_docs import ReadOnlyEndpoint
from logoadmin.entrypoints.http_api.conditions import header_values
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.media_types import JSON

_PATH: Final = "/doctor"


def doctor_route(gallery: LogoAdmin) -> Route:
    """Return the route, which is in no OpenAPI document: without a proof it is a 404."""
    return Route(_PATH, DoctorEndpoint(gallery))


class DoctorEndpoint(ReadOnlyEndpoint):
    """Returns client, scheme, host and prefix as the service sees them, and what proxies wrote."""

    def __init__(self, gallery: LogoAdmin) -> None:
        """Accept proofs by the keys of a gallery."""
        self._keys = gallery.doctor_keys

    def response(self, scope: Scope) -> Response:
        """Return the view of the request, or 404."""
        if not any(is_proof(sent, self._keys, time.time()) for sent in header_values(scope, b"authorization")):
            return error_response(HttpError(404))
        client = scope.get("client")
        body = {
            "client": client[0] if client else None,
            "scheme": scope["scheme"],
            "host": header_values(scope, b"host"),
            "root_path": scope.get("root_path", ""),
            "forwarded_for": _members(scope, b"x-forwarded-for"),
            "forwarded_proto": _members(scope, b"x-forwarded-proto"),
        }
        return Response(json.dumps(body).encode(), 200, {"cache-control": "no-store"}, JSON)


def _members(scope: Scope, name: bytes) -> list[str]:
    return [member.strip() for value in header_values(scope, name) for member in value.split(",") if member.strip()]

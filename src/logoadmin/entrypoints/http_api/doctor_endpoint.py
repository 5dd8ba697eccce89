"""What of a request arrives, told to ``logoadmin doctor``, which asks through the proxy (contract K4).

It proves by an access token that it holds a key of the service; to everybody else there is nothing here.
"""

import json
from contextlib import suppress
from typing import Final

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import DOCTOR_SESSION_ID, DOCTOR_USER_ID, SignedIn
from logoadmin.domain.model.errors import InvalidToken
from logoadmin.entrypoints.http_api.api_docs import ReadOnlyEndpoint
from logoadmin.entrypoints.http_api.conditions import header_values
from logoadmin.entrypoints.http_api.errors import HttpError, error_response
from logoadmin.entrypoints.http_api.media_types import JSON

_PATH: Final = "/doctor"
_BEARER: Final = "Bearer "


def doctor_route(gallery: LogoAdmin) -> Route:
    """Return the route, which is in no OpenAPI document: whoever else asks gets 404."""
    return Route(_PATH, DoctorEndpoint(gallery))


class DoctorEndpoint(ReadOnlyEndpoint):
    """Says what the service takes a request for."""

    def __init__(self, gallery: LogoAdmin) -> None:
        """Know the tokens of a gallery."""
        self._gallery = gallery

    def response(self, scope: Scope) -> Response:
        """Return client, scheme, host and prefix, and what proxies wrote."""
        if not self._is_doctor(scope):
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

    def _is_doctor(self, scope: Scope) -> bool:
        for sent in header_values(scope, b"authorization"):
            with suppress(InvalidToken):
                caller = self._gallery.sessions.caller(sent.removeprefix(_BEARER))
                return caller == SignedIn(DOCTOR_USER_ID, DOCTOR_SESSION_ID)
        return False


def _members(scope: Scope, name: bytes) -> list[str]:
    return [member.strip() for value in header_values(scope, name) for member in value.split(",") if member.strip()]

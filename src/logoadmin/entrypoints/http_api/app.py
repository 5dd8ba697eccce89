"""The ASGI application: a route for each path of the operations (contract A19 to A21, H6)."""

import functools
import json
from collections.abc import Callable, Collection, Mapping

from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp, Scope

from logoadmin.domain.logo_admin import LogoAdmin
from logoadmin.domain.model.access import Policy
from logoadmin.domain.model.errors import SettingsError
from logoadmin.entrypoints.http_api.api_docs import ReadOnly, docs_routes
from logoadmin.entrypoints.http_api.bodies import Bodies
from logoadmin.entrypoints.http_api.cors import Cors
from logoadmin.entrypoints.http_api.data_version import DataVersion
from logoadmin.entrypoints.http_api.dispatch import Dispatch
from logoadmin.entrypoints.http_api.endpoints import Endpoint, Service
from logoadmin.entrypoints.http_api.hosts import Hosts
from logoadmin.entrypoints.http_api.openapi import openapi_document
from logoadmin.entrypoints.http_api.operations import OPERATIONS, Operation
from logoadmin.entrypoints.http_api.parts import no_parts
from logoadmin.entrypoints.http_api.response_cache import ResponseCache
from logoadmin.entrypoints.http_api.router import PathRouter


def http_application(
    gallery: LogoAdmin,
    *,
    origins: Collection[str] = (),
    cache_seconds: int = 60,
    hosts: Collection[str] | None = None,
) -> ASGIApp:
    """Return the ASGI application of a gallery; it can be served, or mounted under a prefix in another one.

    Args:
        gallery: what is served.
        origins: the origins whose pages may use all of it, such as ``https://admin.example``; those of others may
            only read what is public (contract F2).
        cache_seconds: how long public reads may be kept without asking again.
        hosts: the names that are answered to, beside those of loopback; None for any (contract A22).

    Raises:
        SettingsError: origins or hosts are one text, of which each letter would be taken for one.
    """
    for name, given in (("origins", origins), ("hosts", hosts)):
        if isinstance(given, str):
            raise SettingsError(f"{name} should be a list of texts, such as [{given!r}]")
    dispatch = Dispatch(gallery)
    data_version = DataVersion(gallery, dispatch)
    service = Service(gallery, Bodies(), dispatch, data_version, no_parts(), Cors(frozenset(origins)), cache_seconds)
    paths = {path: Endpoint(service, operations) for path, operations in _operations_by_path().items()}
    # Others may keep the keys for so long that a new one, which is published before it signs, is known in time.
    keys = Document(lambda _: _public_keys(gallery), {"cache-control": "public, max-age=300"})
    documents = [
        Route("/openapi.json", Document(_openapi(gallery.access))),
        Route("/.well-known/jwks.json", keys),
        *docs_routes(),
    ]
    router = PathRouter(paths, documents)
    cached = ResponseCache(router, data_version)
    return cached if hosts is None else Hosts(cached, hosts)


def _operations_by_path() -> dict[str, list[Operation]]:
    paths: dict[str, list[Operation]] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, []).append(operation)
    return paths


class Document(ReadOnly):
    """A path outside the table of operations: JSON that everybody may read."""

    def __init__(self, text: Callable[[str], bytes], headers: Mapping[str, str] | None = None) -> None:
        """Answer with the text that is right under a prefix, and with more headers."""
        self._text = text
        self._headers = {"cache-control": "no-store", **(headers or {})}

    def response(self, scope: Scope) -> Response:
        """Return the text."""
        return Response(self._text(scope.get("root_path", "")), 200, self._headers, "application/json")


def _openapi(access: Policy) -> Callable[[str], bytes]:
    """Return what makes the OpenAPI document under an access policy, when it is first asked for."""
    return functools.lru_cache(1)(lambda root_path: json.dumps(openapi_document(access, root_path)).encode())


def _public_keys(gallery: LogoAdmin) -> bytes:
    """Return the keys that verify access tokens, as a JWK Set (RFC 7517 §5, contract C2)."""
    return json.dumps({"keys": [dict(key) for key in gallery.sessions.public_keys()]}).encode()
